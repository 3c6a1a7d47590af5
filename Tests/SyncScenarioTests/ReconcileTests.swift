// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// Reconcile removes only items that the server no longer has.
@Suite struct ReconcileTests {
    /// Runs the body with a device that has pulled that many rows.
    private func withPulledRows(
        on kind: StoreKind, rows: Int, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind, rows: rows) { scenario, a in
            try await a.context.pull(Todo.query, queryID: "all")
            try await body(scenario, a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile removes only items that the server does not return`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            for id in ["stays", "hard deleted", "left the filter", "edited here"] {
                try await scenario.server.put(id, ["text": .text(id), "complete": false], in: Todo.name)
            }
            let open = Todo.query.where(.column("complete") == false)
            try await device.context.pull(open, queryID: "open")
            try await scenario.server.remove("hard deleted", in: Todo.name, leavingTombstone: false)
            try await scenario.server.remove("edited here", in: Todo.name, leavingTombstone: false)
            try await scenario.server.update("left the filter", ["complete": true], in: Todo.name)
            try await device.table.update(id: "edited here", ["text": "edited here too"])
            try await device.table.insert(["id": "never sent", "complete": false])
            try await device.context.pull(open, queryID: "open", settings: .withoutPush)
            #expect(try await device.table.items().count == 5)

            #expect(try await device.context.reconcile(open) == 2)
            let left = try await device.table.items().map(\.id)
            #expect(left == ["edited here", "never sent", "stays"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile removes nothing when the server filters rows after paging`(_ kind: StoreKind) async throws
    {
        try await withPulledRows(on: kind, rows: 300) { scenario, a in
            // Each page lacks a different number of rows, which later pages contain.
            scenario.server.onRequest { request in
                .editRows { Array($0.prefix(50 - request.id * 7 % 49)) }
            }
            #expect(try await a.context.reconcile(Todo.query) == 0)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile reads to an empty page, also behind one that the server calls the last`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 300, configure: { $0.pageSize = 1000 }) { scenario, _ in
            let a = try scenario.wholeRowDevice("v3")
            try await a.context.pull(Todo.query, queryID: "all")
            // The pages of the whole length have no next link.
            scenario.server.onRequest { _ in .editRows { Array($0.prefix(180)) } }
            #expect(try await a.context.reconcile(Todo.query) == 0)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile requests missing rows by id when they are few`(_ kind: StoreKind) async throws {
        try await withPulledRows(on: kind, rows: 100) { scenario, a in
            try await scenario.server.remove("row-1", in: Todo.name, leavingTombstone: false)
            scenario.server.onRequest { request in
                guard request.isPage else { return .none }
                return .editRows { rows in
                    rows.filter { row in
                        guard case .object(let fields) = row else { return true }
                        return fields["id"]?.textValue?.hasSuffix("7") != true
                    }
                }
            }
            #expect(try await a.context.reconcile(Todo.query) == 1)
            try await scenario.expectAgreement(a)
            #expect(try await a.context.deltaTokens(of: Todo.name).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile removes more than half of the items only with removingMost, and a pull restores them`(
        _ kind: StoreKind
    ) async throws {
        try await withPulledRows(on: kind, rows: 100) { scenario, a in
            scenario.server.onRequest { request in
                request.isPage ? .editRows { _ in [] } : .none
            }
            let error = await expectError(.reconcileRefused) { try await a.context.reconcile(Todo.query) }
            #expect(error?.message.contains("removingMost") == true)
            #expect(try await a.table.items().count == 100)
            #expect(try await a.context.reconcile(Todo.query, removingMost: true) == 100)
            #expect(try await a.table.items().isEmpty)
            scenario.server.onRequest(nil)
            try await a.context.pull(Todo.query, queryID: "all")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item removed because it left the filter is pulled again by another query`(_ kind: StoreKind)
        async throws
    {
        try await withPulledRows(on: kind, rows: 3) { scenario, a in
            let open = Todo.query.where(.comparison(.equal, .column("complete"), .constant(false)))
            for number in 0..<3 {
                scenario.server.clock.advance(by: .seconds(1))
                try await scenario.server.update("row-\(number)", ["complete": false], in: Todo.name)
            }
            try await a.context.pull(open, queryID: "open")
            scenario.server.clock.advance(by: .seconds(1))
            try await scenario.server.update("row-1", ["complete": true], in: Todo.name)
            scenario.server.clock.advance(by: .seconds(10))
            try await a.context.pull(Todo.query, queryID: "all")
            // Reconcile ignores the pulled item, which is outside the filter, so the test restores its older state.
            try a.store.write { transaction in
                guard var item = try transaction.item(id: "row-1", in: Todo.name) else { return }
                item.fields["complete"] = false
                try transaction.upsert([item], in: Todo.name)
            }
            #expect(try await a.context.reconcile(open) == 1)
            #expect(Array(try await a.context.deltaTokens(of: Todo.name).keys) == ["open"])
            try await a.context.pull(Todo.query, queryID: "all")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reconcile removes nothing when a request fails`(_ kind: StoreKind) async throws {
        try await withPulledRows(on: kind, rows: 10) { scenario, a in
            try await scenario.server.remove("row-1", in: Todo.name, leavingTombstone: false)
            scenario.server.onRequest { request in request.isPage ? .none : .refusal(403) }
            await expectError(.pullAborted) { try await a.context.reconcile(Todo.query) }
            #expect(try await a.table.items().count == 10)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a page requested before a reconciliation does not store a removed row again`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let page = HeldResponseTransport()
            let a = try scenario.device(transport: page)
            try await scenario.putRows(3)
            try await a.sync()
            page.holdNext()
            let pull = Task { try await a.context.pull(Todo.query) }
            try await page.waitForResponse()
            try await scenario.server.remove("row-1", in: Todo.name, leavingTombstone: false)
            #expect(try await a.context.reconcile(Todo.query) == 1)
            page.release()
            _ = try await pull.value
            #expect(try await a.texts() == ["0", "2"])
            try await scenario.expectAgreement(a)
        }
    }

    /// The server shows each tenant the rows whose ids begin with its name.
    @Test(arguments: StoreKind.allCases)
    func `rows that a reconciliation with other parameters has removed are pulled again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            for id in ["1", "2"] { try await scenario.server.put(id, ["text": .text(id)], in: Todo.name) }
            scenario.server.onRequest { request in
                guard let tenant = request.parameter("tenant") else {
                    return .none
                }
                if let id = request.itemID { return id == tenant ? .none : .refusal(404, "no row") }
                return .editRows { rows in
                    rows.filter {
                        if case .object(let row) = $0 { row["id"] == .text(tenant) } else { false }
                    }
                }
            }
            // Otherwise the next pulls read the instant of the rows again.
            scenario.server.clock.advance(by: .seconds(5))
            let queries = ["1", "2"].map { Todo.query.parameter("tenant", $0) }
            for (number, query) in queries.enumerated() {
                #expect(try await a.context.pull(query, queryID: "t\(number)").upserted == 1)
            }
            #expect(try await a.context.reconcile(queries[0]) == 1)
            for (number, query) in queries.enumerated() {
                try await a.context.pull(query, queryID: "t\(number)")
            }
            #expect(try await a.texts() == ["1", "2"])
        }
    }
}
