// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Rows of the server that lack columns or the version.
@Suite struct PartialRowTests {
    /// How a conflict with a row that lacks a column is decided.
    enum Decision: CaseIterable { case fieldMerge, serverWins, discard }

    private static func settings(_ decision: Decision) -> SyncSettings {
        switch decision {
        case .fieldMerge: .resolving(.fieldMerge(onClash: .serverWins))
        case .serverWins: .resolving(.serverWins)
        case .discard: SyncSettings()
        }
    }

    /// Such as of a server that has no column of this name yet.
    @Test(arguments: StoreKind.allCases, Decision.allCases)
    func `a column that the server does not have keeps its value in a conflict`(
        _ kind: StoreKind, _ decision: Decision
    ) async throws {
        for isPulled in [false, true] {
            try await Scenario.run(on: kind) { scenario in
                scenario.server.onRequest { _ in .editFields { $0["priority"] = nil } }
                let a = try scenario.device(settings: Self.settings(decision))
                try await a.table.insert(["id": "x", "text": "one", "priority": 1])
                try await a.sync()
                #expect(try await a.item("x")?["priority"] == 1)
                try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
                try await a.table.update(id: "x", ["complete": true])
                if isPulled { try await a.pullWithoutPush() }
                if decision == .discard {
                    try await a.context.cancelAndDiscardItem(for: try await a.expectPushError())
                } else {
                    try await a.context.push()
                }
                let item = try #require(try await a.item("x"))
                #expect(item["text"] == "theirs" && item["priority"] == 1)
                #expect(item["complete"] ?? .null == (decision == .fieldMerge ? true : .null))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict that shows no columns removes none of another client`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let store = try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition])
            let settings = Self.settings(.fieldMerge)
            let a = scenario.device(on: store, settings: settings, dialect: .v3)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["priority": 2], in: Todo.name)
            try await a.table.update(id: "x", ["text": "ours"])
            let version = try #require(try scenario.row("x")).version
            scenario.server.inject(
                .answer(
                    status: 412, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"id":"x","version":"\#(version)"}"#.utf8)), when: \.isWrite)
            try await a.context.push()
            let row = try #require(try scenario.row("x"))
            #expect(row.fields["text"] == "ours" && row.fields["priority"] == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a listed row without its version is no conflict of a change that was made on it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            scenario.server.onRequest { request in
                request.isPage ? .editFields { $0["version"] = nil } : .none
            }
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "ours"])
            try await a.pullWithoutPush()
            #expect(try await a.texts() == ["ours"])
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["ours"])
        }
    }

    /// The first response shows only the id, and the server computes a column.
    @Test(arguments: StoreKind.allCases)
    func `a column that the server has computed is no conflict of a change of another one`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt, transport: TransportWithoutVersions())
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(
                .editFields { row in for name in row.keys where name != "id" { row[name] = nil } },
                when: \.isWrite)
            try await a.context.push()
            try await scenario.server.update("x", ["priority": 7], in: Todo.name)
            try await a.table.update(id: "x", ["text": "ours"])
            try await a.context.push()
            let row = try #require(try scenario.row("x"))
            #expect(row.fields["text"] == "ours" && row.fields["priority"] == 7)
        }
    }

    /// Both are the same number as a double.
    @Test(arguments: StoreKind.allCases)
    func `two large integers that differ are a conflict`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["priority": 5], in: Todo.name)
            try await a.sync()
            let (theirs, ours): (ItemValue, ItemValue) = (
                1_700_000_000_000_000_100, 1_700_000_000_000_000_001
            )
            try await scenario.server.update("x", ["priority": theirs], in: Todo.name)
            try await a.table.update(id: "x", ["priority": ours])
            let error = try await a.expectPushError()
            #expect(error.isConflict && error.serverItem?["priority"] == theirs)
            #expect(try await a.item("x")?["priority"] == ours)
        }
    }
}
