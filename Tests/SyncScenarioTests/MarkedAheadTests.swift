// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// While an operation waits for its response, the next one is marked ahead of its turn.
@Suite struct MarkedAheadTests {
    /// Runs the body when the first of three operations, which are inserts, has reached the server and the second one is
    /// marked.
    private func pushThree(
        on kind: StoreKind, settings: SyncSettings = .singleAttempt, then fault: ServerFault = .none,
        prepare: (Scenario, Device) async throws -> Void = { _, a in
            for id in ["0", "1", "2"] { try await a.table.insert(["id": .text(id), "text": "new"]) }
        },
        while body: (Scenario, Device, Task<PushResult, any Error>) async throws -> Void,
        after: (Scenario, Device, Result<PushResult, any Error>) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let writes = WriteSignal()
            let a = try scenario.device(settings: settings) { $0.executor = writes }
            try await prepare(scenario, a)
            scenario.server.removeRequests()
            let marked = TestSignal()
            writes.onWrite {
                let states = try? a.store.read { try $0.operations(after: 0, in: nil, limit: 3).map(\.state) }
                if states == [.attempted, .attempted, .pending] { marked.send() }
            }
            let result = try await scenario.push(a, then: fault) { push in
                try await marked.wait()
                #expect(scenario.writes().count == 1)
                try await body(scenario, a, push)
            }
            try await after(scenario, a, result)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the next operation is marked while one waits for its response, and sent afterwards`(
        _ kind: StoreKind
    ) async throws {
        try await pushThree(on: kind) { _, a, _ in
            let operations = try await a.operations()
            #expect(operations.map(\.state) == [.attempted, .attempted, .pending])
        } after: { scenario, a, result in
            #expect(try result.get().completed == 3)
            #expect(scenario.writes().count == 3)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change takes the mark back, and is collapsed`(_ kind: StoreKind) async throws {
        try await pushThree(on: kind) { _, a, _ in
            try await a.table.update(id: "1", ["text": "edited"])
        } after: { scenario, a, result in
            #expect(try result.get().completed == 3)
            #expect(scenario.writes().map(\.method) == ["POST", "POST", "POST"])
            #expect(try scenario.row("1")?.fields["text"] == "edited")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete takes the mark back, and nothing of the item is sent`(_ kind: StoreKind) async throws {
        try await pushThree(on: kind) { _, a, _ in
            try await a.table.delete(id: "1")
        } after: { scenario, a, result in
            #expect(try result.get().completed == 2)
            #expect(scenario.writes().count == 2)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [ServerFault.dropRequest, .refusal(401)])
    func `the end of the push takes the mark back`(_ kind: StoreKind, _ fault: ServerFault) async throws {
        try await pushThree(on: kind, then: fault) { _, _, _ in
        } after: { scenario, a, result in
            #expect(throws: SyncError.self) { _ = try result.get() }
            #expect(scenario.writes().count == 1)
            let waiting = try await a.operations().dropFirst()
            #expect(waiting.map(\.state) == [.pending, .pending])
            #expect(waiting.allSatisfy { $0.sent == nil && $0.lastAttempt == nil })
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refusal of the operation before it does not stop the next one`(_ kind: StoreKind) async throws {
        try await pushThree(on: kind, then: .refusal(400)) { _, _, _ in
        } after: { scenario, a, result in
            #expect(throws: SyncError.self) { _ = try result.get() }
            #expect(scenario.writes().count == 3)
            let operations = try await a.operations()
            #expect(operations.map(\.itemID) == ["0"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that fails leaves the operation as never sent`(_ kind: StoreKind) async throws {
        try await pushThree(on: kind) { scenario, a, _ in
            await expectError(.itemAlreadyExists) { try await a.table.insert(["id": "1"]) }
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains(#""id":"1""#) ? .refusal(400) : .none
            }
        } after: { scenario, a, result in
            #expect(throws: SyncError.self) { _ = try result.get() }
            let operation = try #require(try await a.operations().first)
            #expect(operation.state == .pending && operation.sent == nil)
            // Nothing of it is on the server, so nothing is sent for its deletion.
            try await a.table.delete(id: "1")
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit made while a resolver decides about the operation is seen by the resolver`(
        _ kind: StoreKind
    ) async throws {
        let edit = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let seen = Mutex<[ItemValue?]>([])
        var settings = SyncSettings.singleAttempt
        settings.resolver = ConflictResolver { conflict in
            seen.withLock { $0.append(conflict.clientItem?["text"]) }
            try await edit.withLock { edit in
                defer { edit = nil }
                return edit
            }?()
            return .keepServer
        }
        try await pushThree(on: kind, settings: settings) { scenario, a in
            try await scenario.server.put("1", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.insert(["id": "0"])
            try await a.table.update(id: "1", ["text": "ours"])
            try await a.table.insert(["id": "2"])
        } while: { scenario, a, _ in
            edit.withLock { $0 = { try await a.table.update(id: "1", ["text": "edited"]) } }
            try await scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            try await a.pullWithoutPush()
        } after: { scenario, a, _ in
            #expect(seen.withLock(\.self) == ["ours", "edited"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation behind another one of its item is sent in its place in the queue`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x"])
            try await a.context.push()
            try await a.table.delete(id: "x")
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.removeRequests()
            // The outcome of the delete is unknown, so the insert is queued behind it.
            try await a.table.insert(["id": "x", "text": "again"])
            try await a.table.insert(["id": "y"])
            #expect(try await a.operations().map(\.itemID) == ["x", "x", "y"])
            try await a.context.push()
            #expect(scenario.writes().map(\.method) == ["DELETE", "POST", "POST"])
            let bodies = scenario.writes().map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.last?.contains(#""id":"y""#) == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .lmdb])
    func `an operation whose mark was never taken back is sent once by the next push`(
        _ kind: StoreKind
    ) async throws {
        try await pushThree(on: kind, then: .dropRequest) { _, a, _ in
            // The store is closed before the push can take the mark back, as when the process ends.
            try await a.context.close()
        } after: { scenario, _, result in
            #expect(throws: SyncError.self) { _ = try result.get() }
            let a = try scenario.device(settings: .singleAttempt)
            #expect(try await a.operations().map(\.state) == [.attempted, .attempted, .pending])
            #expect(try await a.context.push().completed == 3)
            #expect(scenario.writes().count == 4)
            try await scenario.expectAgreement(a)
            try await a.context.close()
        }
    }
}

/// Calls a closure after each write.
final class WriteSignal: StoreExecutor {
    private let base = SyncEnvironment.live.executor
    private let onWrite = Mutex<@Sendable () -> Void>({})

    func onWrite(_ body: @escaping @Sendable () -> Void) { onWrite.withLock { $0 = body } }

    func read(_ work: @escaping @Sendable () -> Void) { base.read(work) }

    func write(_ work: @escaping @Sendable () -> Void) {
        base.write { [self] in
            work()
            onWrite.withLock(\.self)()
        }
    }
}
