// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A row that is hard-deleted and inserted again reuses its versions: equal versions do not prove equal rows.
@Suite struct ReusedVersionTests {
    private static func restartVersions(_ configuration: inout TableServer.Configuration) {
        configuration.tables = [.init(Todo.name, softDelete: false)]
        configuration.restartsVersions = true
    }

    @Test(arguments: StoreKind.allCases, [TableOperation.Kind.update, .delete])
    func `a change of a hard-deleted row conflicts with the row inserted again`(
        _ kind: StoreKind, _ change: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            if change == .delete {
                try await a.table.delete(id: "x")
            } else {
                try await a.table.update(id: "x", ["text": "ours"])
            }
            let version = try scenario.row("x")?.version
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            #expect(try scenario.row("x")?.version == version)
            try await a.pullWithoutPush()
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "new")
            #expect(try scenario.row("x")?.fields["text"] == "new")
            // After the decision the change overwrites the reported row.
            if change == .delete {
                try await a.context.changeKind(for: error, to: .delete)
            } else {
                try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == (change == .delete ? nil : "ours"))
            try await scenario.expectAgreement(a)
        }
    }

    /// Pulls a row that was hard-deleted and inserted again.
    ///
    /// - Returns: the app's copy of the former row, which has the version of the new one.
    private func copyOfFormerRow(_ a: Device, on scenario: Scenario) async throws -> Item {
        try await scenario.server.put("x", ["text": "old"], in: Todo.name)
        try await a.sync()
        let copy = try #require(try await a.item("x"))
        try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
        scenario.server.clock.advance(by: .seconds(5))
        try await scenario.server.put("x", ["text": "new"], in: Todo.name)
        try await a.pullWithoutPush()
        #expect(try await a.item("x")?.system.version == copy.system.version)
        return copy
    }

    @Test(arguments: StoreKind.allCases, [TableOperation.Kind.update, .delete])
    func `a change of the app's copy of the former row conflicts with the row inserted again`(
        _ kind: StoreKind, _ change: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            let a = try scenario.device()
            var copy = try await copyOfFormerRow(a, on: scenario)
            copy["text"] = "ours"
            if change == .delete { try await a.table.delete(copy) } else { try await a.table.replace(copy) }
            try await a.pullWithoutPush()
            let error = try await a.expectPushError()
            #expect(error.serverItem?["text"] == "new")
            #expect(try scenario.row("x")?.fields["text"] == "new")
            if change == .update {
                try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
                try await a.context.push()
                #expect(try scenario.row("x")?.fields["text"] == "ours")
            } else {
                try await a.context.cancelAndDiscardItem(for: error)
            }
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a copy of the former row saved behind an operation in flight conflicts with the row inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            let a = try scenario.device()
            var copy = try await copyOfFormerRow(a, on: scenario)
            copy["text"] = "ours"
            let edited = copy
            try await a.table.update(id: "x", ["complete": true])
            _ = try await scenario.push(a) { _ in try await a.table.replace(edited) }
            #expect(try await a.expectPushError().isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "new")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a copy of the former row saved behind a failed operation conflicts with the row inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            var copy = try await copyOfFormerRow(a, on: scenario)
            copy["text"] = "ours"
            let edited = copy
            try await a.table.update(id: "x", ["complete": true])
            _ = try await scenario.push(a, then: .refusal(400)) { _ in try await a.table.replace(edited) }
            #expect(try await a.expectPushError().isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "new")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deletion of a row without times does not delete the row inserted again with times`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            scenario.server.onRequest { _ in
                .editFields { row in
                    row["createdAt"] = nil
                    if row["text"] == "old" { row["updatedAt"] = nil }
                }
            }
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            #expect(try await a.item("x")?.system.updatedAt == nil)
            try await a.table.delete(id: "x")
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            try await a.pullWithoutPush()
            let error = try await a.expectPushError()
            #expect(error.serverItem?["text"] == "new")
            #expect(try scenario.row("x")?.fields["text"] == "new")
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["new"])
        }
    }

    /// Edits an item whose row is hard-deleted and inserted again.
    ///
    /// - Returns: the version of the row before; the new row has an earlier one.
    private func replaceEditedRow(of a: Device, on scenario: Scenario) async throws -> String? {
        try await scenario.server.put("x", ["text": "old"], in: Todo.name)
        try await scenario.server.update("x", ["text": "older"], in: Todo.name)
        try await a.sync()
        try await a.table.update(id: "x", ["text": "ours"])
        let version = try scenario.row("x")?.version
        try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
        scenario.server.clock.advance(by: .seconds(5))
        try await scenario.server.put("x", ["text": "new"], in: Todo.name)
        return version
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict with a row inserted again stays one when that row has reached the same version`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            let a = try scenario.device()
            let version = try await replaceEditedRow(of: a, on: scenario)
            #expect(try await a.expectPushError().serverItem?["text"] == "new")
            try await scenario.server.update("x", ["text": "newer"], in: Todo.name)
            #expect(try scenario.row("x")?.version == version)
            #expect(try await a.expectPushError().serverItem?["text"] == "newer")
            #expect(try scenario.row("x")?.fields["text"] == "newer")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a row hard-deleted and inserted again differs from the old row with the same version`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind, rows: 0, configure: Self.restartVersions) { scenario, a in
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            try await a.pullWithoutPush()
            #expect(try await a.operations().map { $0.serverItem?["text"] } == ["new"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["new"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a result of a delegate that is a row inserted again does not hide its next version`(
        _ kind: StoreKind
    ) async throws {
        let delegate = ClosureDelegate(perform: { _, operation in
            do { return try await operation.execute() } catch let error as TableOperationError {
                return error.serverItem
            }
        })
        let configure = { (configuration: inout TableServer.Configuration) in
            Self.restartVersions(&configuration)
            configuration.clock = .standing(at: .unixEpoch)
        }
        try await Scenario.run(on: kind, configure: configure) { scenario in
            let a = try scenario.device(delegate: delegate)
            let version = try await replaceEditedRow(of: a, on: scenario)
            try await a.context.push()
            #expect(try await a.texts() == ["new"])
            try await scenario.server.update("x", ["text": "newer"], in: Todo.name)
            #expect(try scenario.row("x")?.version == version)
            try await a.pullWithoutPush()
            #expect(try await a.texts() == ["newer"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a result of a delegate does not hide a row that was inserted again while it ran`()
        async throws
    {
        try await Scenario.run(on: .memory, configure: Self.restartVersions) { scenario in
            let delegate = ClosureDelegate(perform: { context, _ in
                let former = try await context.client.table(Todo.name).read(id: "x")
                try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
                scenario.server.clock.advance(by: .seconds(5))
                try await scenario.server.put("x", ["text": "new"], in: Todo.name)
                try await context.pull(Todo.query, queryID: "all", settings: .withoutPush)
                return former
            })
            let a = try scenario.device(delegate: delegate, settings: .resolving(.clientWins))
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.pullWithoutPush()
            try await a.table.update(id: "x", ["text": "ours"])
            _ = try? await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "new")
            #expect(try await a.texts() == ["new"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row inserted again that a pull receives while it is updated does not hide the response`(
        _ kind: StoreKind
    ) async throws {
        // The update gets the `updatedAt` of the insert, as responses show it.
        let configure = { (configuration: inout TableServer.Configuration) in
            Self.restartVersions(&configuration)
            configuration.clock = .standing(at: .unixEpoch)
            configuration.keptFractionDigits = 7
        }
        try await Scenario.run(on: kind, configure: configure) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "old", "priority": 1], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            _ = try await scenario.push(a) { _ in
                try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
                scenario.server.clock.advance(by: .seconds(5))
                try await scenario.server.put("x", ["text": "new", "priority": 2], in: Todo.name)
                try await a.pullWithoutPush()
            }
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            #expect(try await a.item("x")?["text"] == "ours")
            #expect(try await a.item("x")?.system.version == scenario.row("x")?.version)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    /// The server has no `createdAt`: only `updatedAt` tells the rows apart.
    @Test(arguments: StoreKind.allCases)
    func
        `a copy of the former row conflicts with the row inserted again, also without the time of its insert`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind, configure: Self.restartVersions) { scenario in
            let a = try scenario.device(transport: TransportWithoutVersions(columns: "createdAt"))
            var copy = try await copyOfFormerRow(a, on: scenario)
            copy["text"] = "ours"
            try await a.table.replace(copy)
            #expect(try await a.expectPushError().isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "new")
        }
    }
}
