// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

extension PullSettings {
    static func pages(of size: Int, overlap: Duration = .zero) -> PullSettings {
        var settings = PullSettings()
        settings.pageSize = size
        settings.overlap = overlap
        return settings
    }
}

extension Device {
    /// Pulls all items without pushing first.
    @discardableResult
    func pullAnyway() async throws -> PullResult {
        try await context.pull(Todo.query, queryID: "all", settings: .anyway)
    }

    /// Pushes, expecting operations to fail, and returns their errors.
    func failingPush(sourceLocation: SourceLocation = #_sourceLocation) async -> [TableOperationError] {
        let error = await expectError(.pushCompletedWithErrors, sourceLocation: sourceLocation) {
            try await context.push()
        }
        return error?.pushResult?.errors ?? []
    }

    /// Pushes, expecting exactly one operation to fail, and returns its error.
    func failedPush(sourceLocation: SourceLocation = #_sourceLocation) async throws -> TableOperationError {
        let errors = await failingPush(sourceLocation: sourceLocation)
        #expect(errors.count == 1, sourceLocation: sourceLocation)
        return try #require(errors.first, sourceLocation: sourceLocation)
    }

    func item(_ id: String) async throws -> Item? { try await table.item(id: id) }
}

extension Scenario {
    /// Pushes, and runs the body while the first write is at the server and not yet applied.
    func push(
        _ device: Device, budget: PushBudget = PushBudget(), then fault: ServerFault = .none,
        while body: (Task<PushResult, any Error>) async throws -> Void = { _ in }
    ) async throws -> Result<PushResult, any Error> {
        let gate = RequestGate()
        defer { gate.open() }
        server.inject(.hold(gate, then: fault), when: \.isWrite)
        let context = device.context
        let push = Task { try await context.push(budget: budget) }
        await gate.waitForArrivals()
        try await body(push)
        gate.open()
        return await push.result
    }

    func row(_ id: String) throws -> TableRow? { try server.row(id, in: Todo.name) }

    /// The writes that reached the server, as `PATCH` or `POST 409`, in order.
    func writes() -> [RecordedRequest] { server.requests.filter(\.isWrite) }

    /// The device has what the server has, nothing is pending and no error is left.
    func expectAgreement(_ device: Device, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let live = try server.rows(in: Todo.name).filter { !$0.deleted }
        let server = Dictionary(
            uniqueKeysWithValues: live.map { (UTF8Text($0.id), Self.comparable($0.fields)) })
        let items = try await device.table.items()
        let local = Dictionary(
            uniqueKeysWithValues: items.map { item in
                (UTF8Text(item.id), Self.comparable(item.fields.filter { $0.key != Todo.note.name }))
            })
        #expect(local == server, sourceLocation: sourceLocation)
        let versions = Dictionary(uniqueKeysWithValues: live.map { (UTF8Text($0.id), $0.version) })
        #expect(
            items.allSatisfy { $0.system.version == versions[UTF8Text($0.id)] },
            sourceLocation: sourceLocation)
        #expect(try await device.operations().isEmpty, sourceLocation: sourceLocation)
        #expect(try await device.context.operationErrors().isEmpty, sourceLocation: sourceLocation)
    }

    /// Fields as JSON text, without nulls, which the server does not keep apart from missing fields.
    private static func comparable(_ fields: [String: ItemValue]) -> [String: String] {
        fields.filter { !$0.value.isNull }.mapValues { String(decoding: $0.json, as: UTF8.self) }
    }
}

extension RecordedRequest {
    var isWrite: Bool { method != "GET" }
    /// A list of rows, as a pull asks for it.
    var isPage: Bool { method == "GET" && itemID == nil }
}

extension ServerFault {
    /// An answer with a JSON body that says why.
    static func refusal(_ status: Int, _ reason: String = "no") -> ServerFault {
        .answer(
            status: status, headers: ["Content-Type": "application/json"],
            body: Data(#"{"error":"\#(reason)"}"#.utf8))
    }

    /// The same, after the request has been applied.
    static func refusalAfterCommit(_ status: Int) -> ServerFault {
        .applyThenAnswer(
            status: status, headers: ["Content-Type": "application/json"],
            body: Data(#"{"error":"too late"}"#.utf8))
    }
}
