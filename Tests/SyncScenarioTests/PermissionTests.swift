// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A service can answer 401 to a change that the user is not permitted to make, although the sign-in is valid.
@Suite struct PermissionTests {
    private static func isForbidden(_ request: RecordedRequest) -> Bool {
        request.isWrite && (request.path + String(decoding: request.body, as: UTF8.self)).contains("theirs")
    }

    private func device(_ scenario: Scenario, token: String? = "token") throws -> Device {
        var settings = SyncSettings.singleAttempt
        settings.parkAfterRefusals = 2
        let device = try scenario.device(settings: settings)
        device.context.client.authenticationToken = token
        return device
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that is answered with 401 does not stop the others, and is parked`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            scenario.server.onRequest { Self.isForbidden($0) ? .answer(status: 401) : .none }
            try await a.table.insert(["id": "theirs"])
            try await a.table.insert(["id": "mine"])
            for _ in 0..<2 {
                await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            }
            #expect(try scenario.row("mine") == nil)
            let error = try await a.expectPushError()
            #expect(error.itemID == "theirs" && error.status == 401 && !error.isConflict)
            #expect(try scenario.row("mine") != nil)

            // Alone in the queue, it may also be the sign-in that is missing. Rows are pulled nevertheless, and the error is thrown then.
            try await scenario.server.put("new", [:], in: Todo.name)
            await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            await expectError(.pushAbortedAuthentication) { try await a.context.pull(Todo.query) }
            #expect(try await a.item("new") != nil)
            try await a.table.insert(["id": "another"])
            #expect(try await a.expectPushError().itemID == "theirs")
            #expect(try await a.operations().map(\.state) == [.parked])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `without a sign-in no change is refused, and each push ends at its first request`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            scenario.server.onRequest { _ in .answer(status: 401) }
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id)]) }
            for number in 1...8 {
                await expectError(.pushAbortedAuthentication) { try await a.context.push() }
                #expect(scenario.writes().count == number)
            }
            #expect(try await a.operations().map(\.refusals) == [0, 0, 0])
            await expectError(.pushAbortedAuthentication) { try await a.context.pull(Todo.query) }
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `without a token, a change that requires a sign-in is not refused`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario, token: nil)
            scenario.server.onRequest { Self.isForbidden($0) ? .answer(status: 401) : .none }
            try await a.table.insert(["id": "mine"])
            try await a.table.insert(["id": "theirs"])
            for number in 1...4 {
                await expectError(.pushAbortedAuthentication) { try await a.context.push() }
                // Another change is accepted without a sign-in.
                try await a.table.insert(["id": .text("mine-\(number)")])
            }
            #expect(try await a.operations().allSatisfy { $0.refusals == 0 && $0.state != .parked })
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    /// Returns a device without a token that has corrected an item: the first request of the item was lost, and the service
    /// answered the next one with 401, as it goes on to do. The correction first reads the row.
    private func deviceWithCorrection(
        _ scenario: Scenario, tables: [SyncTableDefinition] = [Todo.definition],
        unauthorized isUnauthorized: @escaping @Sendable (RecordedRequest) -> Bool
    ) async throws -> Device {
        var settings = SyncSettings.singleAttempt
        settings.parkAfterRefusals = 2
        let a = try scenario.device(settings: settings, tables: tables)
        try await a.table.insert(["id": "x", "text": "first"])
        scenario.server.inject(.dropRequest, when: \.isWrite)
        await expectError(.pushAbortedNetwork) { try await a.context.push() }
        scenario.server.onRequest { isUnauthorized($0) ? .answer(status: 401) : .none }
        await expectError(.pushAbortedAuthentication) { try await a.context.push() }
        try await a.table.update(id: "x", ["text": "corrected"])
        return a
    }

    @Test(arguments: StoreKind.allCases)
    func `a correction is not refused while the user is signed out, and is sent after the sign-in`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try await deviceWithCorrection(scenario) { _ in true }
            for _ in 0..<4 {
                await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            }
            #expect(try await a.operations().map(\.refusals) == [0])
            #expect(try await a.operations().map(\.state) == [.attempted])
            scenario.server.onRequest(nil)
            a.context.client.authenticationToken = "token"
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "corrected")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `without a user, a correction of a row that may not be read does not stop the others`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try await deviceWithCorrection(scenario) { $0.isWrite }
            scenario.server.onRequest { $0.isWrite ? .none : .answer(status: 401) }
            await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            for id in ["y", "z"] {
                try await a.table.insert(["id": .text(id)])
                let error = try await a.expectPushError()
                #expect(error.itemID == "x" && error.status == 401)
                #expect(try scenario.row(id) != nil)
            }
            #expect(try await a.operations().map(\.state) == [.parked])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a correction is not refused because the device may change another table without a user`(
        _ kind: StoreKind
    ) async throws {
        let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name), .init("Other")] }) {
            scenario in
            let a = try await deviceWithCorrection(scenario, tables: [Todo.definition, other]) {
                $0.table == Todo.name
            }
            await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            for id in ["y", "z"] {
                try await a.context.table("Other").insert(["id": .text(id)])
                await expectError(.pushAbortedAuthentication) { try await a.context.push() }
                #expect(try scenario.server.row(id, in: "Other") != nil)
            }
            #expect(try await a.operations().map(\.refusals) == [0])
        }
    }

    /// Some services return rows by their ids, and no lists.
    @Test(arguments: StoreKind.allCases, [403, 405])
    func `a correction is sent although only a list may not be read`(_ kind: StoreKind, _ status: Int)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "first"])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.onRequest { request in
                if request.isWrite { return .refusal(400) }
                return request.path.hasSuffix(Todo.name) ? .refusal(status) : .none
            }
            _ = try await a.expectPushError()
            try await a.table.update(id: "x", ["text": "corrected"])
            scenario.server.onRequest {
                $0.path.hasSuffix(Todo.name) && !$0.isWrite ? .refusal(status) : .none
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "corrected")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a correction of a change that was answered with 401 is sent, also after a lost request`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            try await a.table.insert(["id": "x", "text": "theirs"])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            scenario.server.onRequest { Self.isForbidden($0) ? .answer(status: 401) : .none }
            await expectError(.pushAbortedAuthentication) { try await a.context.push() }
            try await a.table.update(id: "x", ["text": "mine"])
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "mine")
        }
    }
}
