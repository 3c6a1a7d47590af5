// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

extension Simulation {
    func carryOut(_ act: Act, by client: SimulatedClient) async throws {
        let context = client.context
        switch act.kind {
        case .insert, .update, .replace, .delete, .batch: try await edit(act, client)
        case .push: try await push(client)
        case .pull(let pull): try await self.pull(pull, client)
        case .cancel(let delay): await cancelled(client, after: delay)
        case .purge(let policy):
            let number = client.lastEdit
            let isKeeping = act.number % 2 == 0
            let query = TableQuery("T")
            if isKeeping { client.state.withLock { $0.hasPurgedKeepingTokens = true } }
            if policy == 2 {
                try await context.purge(query, pending: .discard, keepingDeltaTokens: isKeeping)
                for id in ["x0", "x1", "x2", "x3"] { client.overrule(id, upTo: max(number, client.lastEdit)) }
            } else {
                try await context.purge(query, pending: policy == 0 ? .push : .refuse, keepingDeltaTokens: isKeeping)
            }
        case .reconcile: try await context.reconcile(TableQuery("T"), removingMost: true)
        case .resolve(let choice): try await resolve(choice, client)
        case .restart, .crash:
            log("\(client.name) restarts")
            client.restart()
        case .serverWrite(let field):
            server.write(act.id, [field: .int(Int64(nextNumber()))], by: "server")
            log("server writes \(act.id)")
        case .serverDelete: server.delete(act.id, by: "server")
        case .pageCap(let cap): server.change { $0.pageCap = cap }
        }
    }

    // MARK: Edits

    private func edit(_ act: Act, _ client: SimulatedClient) async throws {
        let (first, second) = (nextNumber(), nextNumber())
        let id = act.id
        let kind = act.kind
        let edits = try await client.context.batch { local -> [Edit] in
            let before = try local.item(id: id, in: "T")
            func value(_ field: String) -> Int64? {
                if case .int(let number)? = before?.fields[field] { number } else { nil }
            }
            func made(_ fields: [(String, Int)]) -> [Edit] {
                fields.map {
                    Edit(number: $0.1, id: id, field: $0.0, value: Int64($0.1), before: value($0.0))
                }
            }
            switch kind {
            case .insert:
                _ = try local.insert(["id": .text(id), "a": .int(Int64(first)), "b": .int(Int64(second))], in: "T")
                return made([("a", first), ("b", second)])
            case .update(let field):
                _ = try local.update(id: id, [field: .int(Int64(first))], in: "T")
                return made([(field, first)])
            case .replace:
                guard var item = before else { return [] }
                item.fields = ["a": .int(Int64(first)), "b": .int(Int64(second))]
                _ = try local.replace(item, in: "T")
                return made([("a", first), ("b", second)])
            case .delete:
                try local.delete(id: id, in: "T")
                return [Edit(number: first, id: id, field: nil, value: nil, before: nil, hadVersion: before?.system.version != nil)]
            default:
                // A batch that does both, and a second row with it.
                if before != nil {
                    try local.delete(id: id, in: "T")
                    _ = try local.insert(["id": .text(id), "a": .int(Int64(second))], in: "T")
                    return [Edit(number: first, id: id, field: nil, value: nil, before: nil)] + made([("a", second)])
                }
                _ = try local.insert(["id": .text(id), "a": .int(Int64(first))], in: "T")
                _ = try local.update(id: id, ["b": .int(Int64(second))], in: "T")
                return made([("a", first), ("b", second)])
            }
        }
        client.record(edits)
        log("\(client.name) edited \(edits.map { "\($0.id).\($0.field ?? "deleted")=\($0.value ?? 0) (saw \($0.before.map(String.init) ?? "-"))" })")
    }

    // MARK: Sync

    private func push(_ client: SimulatedClient) async throws {
        let context = client.context
        try await context.push()
        let parked = try await context.pendingOperations().filter { $0.state == .parked }
        if !parked.isEmpty { fail("unseen", "push() of \(client.name) succeeded with parked operations.") }
    }

    private func pull(_ pull: Act.Pull, _ client: SimulatedClient) async throws {
        var settings = PullSettings()
        settings.pageSize = 2
        let all = TableQuery("T")
        let context = client.context
        switch pull {
        case .incremental: try await context.pull(all, queryID: "all", settings: settings)
        case .filtered:
            try await context.pull(all.where(.column("a") > 20), queryID: "some", settings: settings)
        case .plain: try await context.pull(all, settings: settings)
        case .skip:
            settings.strategy = .skip
            try await context.pull(all, queryID: "skip", settings: settings)
        case .anyway:
            settings.pending = .pullAnyway
            try await context.pull(all, queryID: "all", settings: settings)
        }
    }

    private func cancelled(_ client: SimulatedClient, after delay: Int64) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await client.context.pull(TableQuery("T"), queryID: "all") }
            try? await scheduler.sleep(delay)
            group.cancelAll()
        }
    }

    func resolve(_ choice: Int, _ client: SimulatedClient) async throws {
        let context = client.context
        guard let error = try await context.operationErrors().first else { return }
        let number = client.lastEdit
        let shown = error.serverItem
        var item = error.item ?? Item(id: error.itemID)
        log("\(client.name) resolves \(error.operationID) \(error.itemID) \(error.code) by \(choice)")
        switch choice {
        case 0:
            try await context.cancelAndDiscardItem(for: error)
            client.overrule(error.itemID, upTo: number)
        case 1:
            guard let shown else { return try await context.cancelAndDiscardItem(for: error) }
            try await context.cancelAndUpdateItem(for: error, with: shown)
            client.overrule(error.itemID, upTo: number)
        case 2, 3:
            guard error.kind != .delete else { return }
            let made = nextNumber()
            item.fields["a"] = .int(Int64(made))
            client.noteDecision(error.itemID, serverItem: shown)
            try await context.keepAndUpdateItem(for: error, with: item)
            client.record([Edit(number: made, id: error.itemID, field: "a", value: Int64(made), before: nil)])
            client.noteDecision(error.itemID, serverItem: shown)
        case 4:
            client.noteDecision(error.itemID, serverItem: shown)
            try await context.changeKind(for: error, to: .delete)
            client.overrule(error.itemID, upTo: number)
        default: try await context.replay(operationID: error.operationID)
        }
    }
}
