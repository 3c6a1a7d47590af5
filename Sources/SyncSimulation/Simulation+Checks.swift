// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

extension Simulation {
    /// What holds after every commit: item and operation belong together, and an item has at most two operations.
    func checkCommit(_ snapshot: any StoreSnapshot, of client: String) {
        do {
            let operations = try snapshot.operations(after: 0, in: nil, limit: .max)
            for operation in operations {
                let last = operations.last { $0.itemID == operation.itemID }
                guard last?.id == operation.id else { continue }
                let item = try snapshot.item(id: operation.itemID, in: operation.table)
                if (operation.kind == .delete) == (item != nil) {
                    fail("I2", "\(client): \(operation.kind) \(operation.itemID) and item \(item == nil ? "missing" : "there")")
                }
                if operations.count(where: { $0.itemID == operation.itemID }) > 2 {
                    fail("queue", "\(client): more than two operations for \(operation.itemID)")
                }
            }
            for error in try snapshot.operationErrors(in: nil)
            where !operations.contains(where: { $0.id == error.operationID }) {
                fail("errors", "\(client): an error of operation \(error.operationID), which is not pending")
            }
        } catch {
            fail("store", "\(client): \(error)")
        }
    }

    /// Ends all faults, lets everyone sync until nothing is left to do, and checks the end.
    func heal() async {
        log("HEAL")
        for client in clients {
            // A process that is still busy with old calls goes on; its network is whole now.
            client.state.withLock { $0.transport }.heal()
        }
        server.change { $0.pageCap = 50 }
        for round in 0..<14 {
            for client in clients {
                try? await scheduler.sleep(120_000_000_000)
                let context = client.context
                do {
                    try await context.push()
                    let left = try await context.pendingOperations()
                    if !left.isEmpty {
                        fail("unseen", "push() of \(client.name) succeeded with \(left.map { "\($0.kind) \($0.itemID) \($0.state)" }).")
                    }
                } catch let error as SyncError {
                    log("\(client.name) heal push: \(error)")
                    if ![.pushCompletedWithErrors].contains(error.code) || round > 8 {
                        fail("liveness", "\(client.name) push in round \(round): \(error)")
                    }
                    await requireNamed(client)
                    if round > 2 {
                        // Now the user decides about everything.
                        for index in 0..<6 { try? await resolve(index % 2 == 0 ? 0 : 2, client) }
                    }
                } catch {
                    fail("liveness", "\(client.name) push: \(error)")
                }
                do {
                    try await context.pull(TableQuery("T"), queryID: "all")
                } catch {
                    fail("liveness", "\(client.name) pull: \(error)")
                }
            }
            if failure.withLock({ $0 != nil }) { return }
            var pending = 0
            for client in clients { pending += (try? await client.context.pendingOperationCount()) ?? 1 }
            if pending == 0, round > 1 { break }
        }
        await checkEnd()
    }

    /// Every pending operation is named by an error.
    private func requireNamed(_ client: SimulatedClient) async {
        guard let operations = try? await client.context.pendingOperations(),
            let errors = try? await client.context.operationErrors()
        else { return }
        for operation in operations where !errors.contains(where: { $0.itemID == operation.itemID }) {
            fail("unseen", "\(client.name): \(operation.kind) \(operation.itemID) waits and no error names it.")
        }
    }

    private func checkEnd() async {
        for client in clients {
            do { try await client.context.pull(TableQuery("T"), queryID: "all") } catch {
                return fail("liveness", "\(client.name) pull: \(error)")
            }
        }
        let rows = server.rows
        let live = rows.filter { !$0.value.isDeleted }
        let journal = server.journal
        for client in clients {
            let context = client.context
            guard let pending = try? await context.pendingOperations(), pending.isEmpty else {
                fail("liveness", "\(client.name) has pending operations at the end.")
                return
            }
            let (edits, decisions, isPurged) = client.state.withLock { ($0.edits, $0.decisions, $0.hasPurgedKeepingTokens) }
            if isPurged { _ = try? await context.pull(TableQuery("T")) }
            if !server.traits.softDelete { _ = try? await context.reconcile(TableQuery("T"), removingMost: true) }
            guard let items = try? await client.table.items() else { return fail("store", "\(client.name)") }
            let local = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) })
            for (id, row) in live where local[id] == nil {
                fail("I14", "\(client.name) lacks row \(id) version \(row.version).")
            }
            for item in items {
                guard let row = live[item.id] else {
                    fail("I19", "\(client.name) has \(item.id), which the server has not.")
                    continue
                }
                for field in ["a", "b"] {
                    let mine = number(item.fields[field]), theirs = number(row.fields[field])
                    if mine != theirs {
                        fail("I19", "\(client.name): \(item.id).\(field) is \(mine ?? -1), on the server \(theirs ?? -1).")
                    }
                }
                if item.system.version != "\(row.version)" {
                    fail("I19", "\(client.name): \(item.id) has version \(item.system.version ?? "-"), the server \(row.version).")
                }
            }
            checkEdits(edits, of: client.name, journal)
            checkOverwrites(edits, decisions, of: client.name, journal)
        }
    }

    private func number(_ value: ItemValue?) -> Int64? { if case .int(let number)? = value { number } else { nil } }
    private func number(_ value: ModelJSON?) -> Int64? { if case .int(let number)? = value { number } else { nil } }

    /// No acknowledged edit is lost.
    private func checkEdits(_ edits: [Edit], of client: String, _ journal: [ModelServer.Mutation]) {
        for edit in edits where !edit.isOverruled {
            if let field = edit.field {
                let reached = journal.contains {
                    $0.client == client && $0.id == edit.id && number($0.after?.fields[field]) == edit.value
                }
                let replaced = edits.contains {
                    $0.id == edit.id && $0.number > edit.number && ($0.field == nil || $0.field == field)
                }
                if !reached, !replaced {
                    fail("I1", "The edit \(edit.id).\(field) = \(edit.value ?? 0) of \(client) is lost.")
                }
            } else {
                let undone = edits.contains { $0.id == edit.id && $0.number > edit.number }
                let reached = journal.contains { $0.id == edit.id && $0.kind == "delete" }
                // The values that the item had when it was deleted; another row of that id is not meant.
                let values = edits.filter { $0.id == edit.id && $0.number < edit.number }.suffix(2).compactMap(\.value)
                let existed =
                    edit.hadVersion
                    || journal.contains { mutation in
                        mutation.id == edit.id && mutation.client == client
                            && values.contains { $0 == number(mutation.after?.fields["a"]) || $0 == number(mutation.after?.fields["b"]) }
                    }
                if existed, !reached, !undone { fail("I1", "The deletion of \(edit.id) by \(client) is lost.") }
            }
        }
    }

    /// Whether the user saw the value when they made the edit, or an earlier one that it stands on.
    private func saw(_ value: Int64, _ edit: Edit, _ edits: [Edit]) -> Bool {
        var before = edit.before
        while let seen = before {
            if seen == value { return true }
            before = edits.first { $0.id == edit.id && $0.field == edit.field && $0.value == seen }?.before
        }
        return false
    }

    /// No change of another client is overwritten by a user who has not seen it.
    private func checkOverwrites(
        _ edits: [Edit], _ decisions: [SeenDecision], of client: String, _ journal: [ModelServer.Mutation]
    ) {
        var writers: [String: String] = [:]
        for mutation in journal {
            // The values of a deleted row are no change that anyone waits for.
            if mutation.kind == "delete" { for field in ["a", "b"] { writers["\(mutation.id).\(field)"] = client } }
            for field in ["a", "b"] {
                let (old, new) = (number(mutation.before?.fields[field]), number(mutation.after?.fields[field]))
                guard old != new, mutation.after != nil else { continue }
                let key = "\(mutation.id).\(field)"
                if mutation.client == client, let old, let new, writers[key] != client, mutation.kind == "update",
                    let edit = edits.first(where: { $0.id == mutation.id && $0.field == field && $0.value == new }),
                    !saw(old, edit, edits),
                    !decisions.contains(where: { $0.id == mutation.id && $0.fields[field] == old }),
                    // A row that was deleted and inserted again on the device replaces what was there.
                    !edits.contains(where: { $0.id == mutation.id && $0.field == nil && $0.number < edit.number })
                {
                    fail(
                        "I6",
                        "\(client) overwrote \(key) = \(old) by \(new) without having seen it (saw \(edit.before ?? -1)).")
                }
                writers[key] = mutation.client
            }
        }
    }
}
