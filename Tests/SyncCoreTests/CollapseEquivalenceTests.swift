// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import Synchronization
import Testing

@testable import SyncCore

/// Every history of changes and pushes of one item, through the real engine, against a model server.
///
/// Pushing the collapsed queue must have the same result on the server as pushing every change. The device must have the
/// same item, and a single client must never get a conflict.
@Suite struct CollapseEquivalenceTests {
    static let maxLength = 6

    @Test func `after every history, the server has the row as if each change had been pushed`() async throws
    {
        var world = Worlds(deletesSoftly: false)
        try await world.explore(Step.all, upTo: Self.maxLength)
        // A generator that explores too few states would find nothing.
        #expect(world.explored > 10_000)
        #expect(world.kindsSeen == Set(TableOperation.Kind.allCases))
    }

    @Test func `after every history without a second insert, a server with tombstones has the same row`()
        async throws
    {
        var world = Worlds(deletesSoftly: true)
        try await world.explore(Step.all, upTo: Self.maxLength)
        #expect(world.explored > 1000)
        #expect(world.kindsSeen == Set(TableOperation.Kind.allCases))
    }
}

/// A change by the user, and the push around it.
struct Step: Hashable, CustomStringConvertible {
    enum Timing: CaseIterable { case before, whileUnapplied, whileApplied }

    var change: TableOperation.Kind
    /// The push that comes with the change, if any.
    var push: Push?

    struct Push: Hashable {
        var outcome: ModelServer.Outcome
        /// When the change is made: before the push, or while its first request is on its way.
        var timing: Timing
    }

    var description: String {
        push.map { "\(change) \($0.timing) a push that is \($0.outcome)" } ?? "\(change)"
    }

    static var all: [Step] {
        let pushes = ModelServer.Outcome.allCases.flatMap { outcome in
            Timing.allCases.map { Push(outcome: outcome, timing: $0) }
        }
        return TableOperation.Kind.allCases.flatMap { change in
            ([nil] + pushes).map { Step(change: change, push: $0) }
        }
    }
}

/// The states that histories of one length lead to; equal states are explored once.
private struct Worlds {
    let deletesSoftly: Bool
    private(set) var explored = 0
    private(set) var kindsSeen: Set<TableOperation.Kind> = []
    private var worlds: [World]

    init(deletesSoftly: Bool) {
        self.deletesSoftly = deletesSoftly
        worlds = [World()]
    }

    mutating func explore(_ steps: [Step], upTo length: Int) async throws {
        for number in 1...length {
            var next: [World.Key: World] = [:]
            for world in worlds {
                for step in steps where world.allows(step, withReinserting: !deletesSoftly) {
                    let successor = try await world.after(step, number: number, deletesSoftly: deletesSoftly)
                    explored += 1
                    kindsSeen.formUnion(successor.operations.map(\.kind))
                    if next.updateValue(successor, forKey: successor.key) == nil {
                        try await successor.requireConvergence(deletesSoftly: deletesSoftly)
                    }
                }
            }
            worlds = Array(next.values)
        }
    }
}

/// Store, server and expectation at one moment, as values.
private struct World {
    static let definition = SyncTableDefinition(
        "Notes",
        columns: [SyncColumn("text", .integer), SyncColumn("extra", .integer), SyncColumn("third", .integer)])
    static let id = "note"

    var item: Item?
    var operations: [TableOperation] = []
    var lastOperationID: Int64 = 0
    var rows: [String: ModelServer.Row] = [:]
    /// The item if every change had been pushed at once.
    var expected: [String: ItemValue]?
    var wasInserted = false
    var history: [Step] = []

    /// Everything that later steps depend on.
    struct Key: Hashable {
        var item: Item?
        var operations: [TableOperation]
        var rows: [String: ModelServer.Row]
        var expected: [String: ItemValue]?
        var wasInserted: Bool
    }

    var key: Key {
        var item = item
        item?.system.supersededVersions = []
        let operations = operations.enumerated().map { index, operation in
            TableOperation(
                id: Int64(index), table: operation.table, itemID: operation.itemID, kind: operation.kind,
                state: operation.state, base: operation.base, version: operation.version,
                serverItem: operation.serverItem, deletedItem: operation.deletedItem, sent: operation.sent,
                replaces: operation.replaces)
        }
        return Key(
            item: item, operations: operations, rows: rows, expected: expected, wasInserted: wasInserted)
    }

    func allows(_ step: Step, withReinserting: Bool) -> Bool {
        step.change == .insert ? expected == nil && (withReinserting || !wasInserted) : expected != nil
    }

    /// Returns the world after the step. Each step writes other values, so that a lost or repeated change is detected.
    func after(_ step: Step, number: Int, deletesSoftly: Bool) async throws -> World {
        let (context, store, server) = try restore(deletesSoftly: deletesSoftly)
        let change = Change(kind: step.change, number: number)
        if let push = step.push {
            var script = ModelServer.Script(outcome: push.outcome)
            let pending = PendingChange(change, context)
            switch push.timing {
            case .before: await pending.make()
            case .whileUnapplied: script.beforeApplying = { await pending.make() }
            case .whileApplied: script.afterApplying = { await pending.make() }
            }
            server.setNextWrite(script)
            _ = try? await context.push()
            await pending.make()
        } else {
            try await change.make(on: context)
        }
        var next = self
        next.history.append(step)
        try next.read(store, server)
        next.expected = change.applied(to: expected)
        next.wasInserted = wasInserted || step.change == .insert
        let conflicts = try store.read { try $0.operationErrors(in: nil) }.filter(\.isConflict)
        try #require(conflicts.isEmpty, "\(next.history): \(conflicts)")
        try #require(next.item?.fields.withoutNulls == next.expected, "\(next.history)")
        try #require(next.operations.count <= 2, "\(next.history)")
        return next
    }

    /// Pushes the remaining operations and compares everything.
    func requireConvergence(deletesSoftly: Bool) async throws {
        let (context, store, server) = try restore(deletesSoftly: deletesSoftly)
        do {
            try await context.push()
        } catch {
            Issue.record("\(history): \(error)")
            throw error
        }
        var final = self
        try final.read(store, server)
        try #require(final.operations.isEmpty, "\(history): \(final.operations)")
        let row = final.rows[Self.id].flatMap { $0.isDeleted ? nil : $0 }
        try #require(row?.fields.withoutNulls == expected, "\(history)")
        try #require(final.item?.fields.withoutNulls == expected, "\(history)")
        try #require(final.item?.system.version == row.map { "\($0.revision)" }, "\(history)")
        let errors = try store.read { try $0.operationErrors(in: nil) }
        try #require(errors.isEmpty, "\(history)")
    }

    private mutating func read(_ store: MemoryStore, _ server: ModelServer) throws {
        (item, operations, lastOperationID) = try store.read { snapshot in
            (
                try snapshot.item(id: Self.id, in: Self.definition.name),
                try snapshot.operations(after: 0, in: nil, limit: .max),
                try snapshot.operations(after: 0, in: nil, limit: .max).last?.id ?? lastOperationID
            )
        }
        rows = server.rows
    }

    /// Makes a context, a store and a server in the state of this world.
    private func restore(
        deletesSoftly: Bool
    ) throws -> (context: SyncContext, store: MemoryStore, server: ModelServer) {
        let store = try MemoryStore(tables: [Self.definition])
        try store.write { transaction in
            if let item { try transaction.upsert([item], in: Self.definition.name) }
            for operation in operations { try transaction.put(operation) }
        }
        let server = ModelServer(rows: rows, deletesSoftly: deletesSoftly)
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        settings.parkAfterRefusals = .max
        let url = try #require(URL(string: "http://127.0.0.1"))
        let context = SyncContext(
            client: SyncClient(url: url, transport: server, installationID: "model"),
            dataSource: store, settings: settings, environment: .inline)
        return (context, store, server)
    }
}

/// One change of the item, which writes the number of its step.
private struct Change: Sendable {
    let kind: TableOperation.Kind
    let number: Int

    private var fields: [String: ItemValue] {
        let value = ItemValue.int(Int64(number))
        return kind == .insert ? ["text": value, "extra": value] : ["text": value]
    }

    func applied(to fields: [String: ItemValue]?) -> [String: ItemValue]? {
        switch kind {
        case .insert: self.fields
        case .update: fields?.merging(self.fields) { _, new in new }
        case .delete: nil
        }
    }

    func make(on context: SyncContext) async throws {
        let table = context.table(World.definition.name)
        switch kind {
        case .insert:
            var fields = fields
            fields["id"] = .text(World.id)
            try await table.insert(fields)
        case .update: try await table.update(id: World.id, fields)
        case .delete: try await table.delete(id: World.id)
        }
    }
}

/// A change that is made once: at the time of the step, or after the push if the push did not reach that point.
private final class PendingChange: Sendable {
    private let change: Change
    private let context: SyncContext
    private let isMade = Mutex(false)

    init(_ change: Change, _ context: SyncContext) {
        (self.change, self.context) = (change, context)
    }

    func make() async {
        let isFirst = isMade.withLock { isMade in
            defer { isMade = true }
            return !isMade
        }
        guard isFirst else { return }
        do { try await change.make(on: context) } catch { Issue.record("\(change): \(error)") }
    }
}

extension [String: ItemValue] {
    fileprivate var withoutNulls: Self { filter { !$0.value.isNull } }
}
