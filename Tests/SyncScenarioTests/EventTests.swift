// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// Events of pushes and pulls arrive at ``SyncSettings/onEvent`` in the order in which they happen.
@Suite struct EventTests {
    private final class Recorder: Sendable {
        private let recorded = Mutex<[SyncEvent]>([])
        var events: [SyncEvent] { recorded.withLock { $0 } }
        /// The names of the events' cases.
        var names: [String] {
            events.map { event in
                switch event {
                case .request: "request"
                case .retry: "retry"
                case .conflict: "conflict"
                case .parked: "parked"
                case .pushEnded: "pushEnded"
                case .pageStored: "pageStored"
                case .rowUnreadable: "rowUnreadable"
                case .pullEnded: "pullEnded"
                case .roundEnded: "roundEnded"
                }
            }
        }
        func record(_ event: SyncEvent) { recorded.withLock { $0.append(event) } }
    }

    private func settings(_ recorder: Recorder) -> SyncSettings {
        var settings = SyncSettings()
        settings.onEvent = { recorder.record($0) }
        settings.parkAfterRefusals = 1
        return settings
    }

    @Test func `a push emits each request, each retry and its end`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let recorder = Recorder()
            let a = try scenario.device(settings: settings(recorder))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(503), when: \.isWrite)
            try await a.context.push()
            #expect(recorder.names == ["request", "retry", "request", "pushEnded"])
            guard case .pushEnded(let end) = recorder.events.last else { return }
            #expect(end.outcome == .completed)
            #expect(
                end.operations.map { "\($0.key.kind) \($0.key.outcome) \($0.value)" } == [
                    "insert completed 1"
                ])
        }
    }

    @Test func `a refused operation emits that it is parked, once`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let recorder = Recorder()
            let a = try scenario.device(settings: settings(recorder))
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = try await a.expectPushError()
            _ = try await a.expectPushError()
            #expect(recorder.names == ["request", "parked", "pushEnded", "pushEnded"])
            guard case .pushEnded(let end) = recorder.events[2],
                case .pushEnded(let second) = recorder.events[3]
            else { return }
            #expect(end.outcome == .completedWithErrors)
            // The operation stays in the errors of each push.
            #expect(second.outcome == .completedWithErrors && second.operations.isEmpty)
            #expect(
                end.operations.map { "\($0.key.kind) \($0.key.outcome) \($0.value)" } == ["insert failed 1"])
        }
    }

    @Test func `a pull emits each page, each unreadable row and its end`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let recorder = Recorder()
            let a = try scenario.device(settings: settings(recorder))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await scenario.server.put("y", ["text": 5], in: Todo.name)
            try await a.pullWithoutPush()
            #expect(recorder.names.filter { $0 != "request" }.prefix(2) == ["rowUnreadable", "pageStored"])
            #expect(recorder.names.last == "pullEnded")
            guard case .pullEnded(let end) = recorder.events.last else { return }
            #expect(end.outcome == .completed)
            #expect(end.rows.upserted == 1)
        }
    }

    @Test func `a pull whose loop the app leaves emits its end`() async throws {
        try await Scenario.run(on: .memory, rows: 60) { scenario, _ in
            let recorder = Recorder()
            let a = try scenario.device("B", settings: settings(recorder))
            for try await _ in a.context.pulling(Todo.query, queryID: "all") { break }
            guard case .pullEnded(let end) = recorder.events.last else {
                Issue.record("No event: \(recorder.names)")
                return
            }
            #expect(end.outcome == .cancelled)
            #expect(end.rows.upserted == 50)
        }
    }

    @Test func `a pull that ends before its first request emits its end`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let recorder = Recorder()
            var settings = settings(recorder)
            settings.retry.maxAttempts = 1
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(503), when: \.isWrite)
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query, queryID: "all") }
            #expect(recorder.names == ["request", "pushEnded", "pullEnded"])
            guard case .pullEnded(let end) = recorder.events.last else { return }
            #expect(end.outcome == .aborted)
            #expect(end.table == Todo.name)
        }
    }

    /// The delegate keeps the first push running until the task begins the second one, which sends the delegate's item.
    @Test(arguments: ["request", "pushEnded"])
    func `a task that the handler of an event has started can push after the running push`(
        _ name: String
    ) async throws {
        let begins = TestSignal()
        let delegate = ClosureDelegate(complete: { context, _ in
            _ = try? await context.table(Todo.name).insert(["id": "y", "text": "two"])
            try? await begins.wait()
        })
        try await Scenario.run(on: .memory) { scenario in
            let recorder = Recorder()
            let contextBox = Mutex<SyncContext?>(nil)
            let push = Mutex<Task<PushResult, any Error>?>(nil)
            var settings = settings(recorder)
            settings.onEvent = { event in
                recorder.record(event)
                guard recorder.names.last == name, let context = contextBox.withLock({ $0 }) else { return }
                push.withLock { push in
                    if push == nil {
                        push = Task {
                            begins.finish()
                            return try await context.push()
                        }
                    }
                }
            }
            let a = try scenario.device(delegate: delegate, settings: settings)
            contextBox.withLock { $0 = a.context }
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            #expect(try await push.withLock(\.self)?.value.completed == 1)
            #expect(recorder.names == ["request", "pushEnded", "request", "pushEnded"])
            #expect(try scenario.serverTexts() == ["one", "two"])
            contextBox.withLock { $0 = nil }
        }
    }
}
