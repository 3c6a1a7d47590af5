// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores on a server with errors after lost connections, failed commits and crashes.
    @MutantList static var connections: [StoreMutant] {
        handling(
            "partial-commit", "A write that lost its connection after a part was committed runs again.",
            killedBy: "connection.lost-in-write", message: "the effects of a write that lost its connection"
        ) { interruption in
            if case .lostInWrite = interruption { .committingAndRunningAgain } else { nil }
        }
        handling(
            "lost-write", "A write that lost its connection returns.", killedBy: "connection.lost-in-write",
            message: "which returned"
        ) { interruption in
            if case .lostInWrite = interruption { .returning } else { nil }
        }
        StoreMutant(
            .connection, "reconnects-in-write",
            "A write that lost its connection continues in a new transaction, without its first changes.",
            killedBy: "connection.lost-in-write", message: "beside their counter"
        ) { flaw in
            flaw.useServer()
            let (losses, first) = (Shared(0), Shared<[String]>([]))
            flaw.write = { [server = flaw.server] base, body in
                losses.change { $0 = server.state.losses }
                first.change { $0 = [] }
                try base.write(body)
            }
            flaw.upsert = { transaction, items, table in
                first.change { $0 += items.map(\.id) }
                try transaction.upsert(items, in: table)
            }
            flaw.putOperation = { [hits = flaw.hits, server = flaw.server] transaction, operation in
                if server.state.losses != losses.value {
                    hits.hit()
                    try transaction.deleteItems(ids: first.value, in: "Thing")
                }
                try transaction.put(operation)
            }
        }
        handling(
            "commit-lost", "A write whose commit did not reach the server returns.",
            killedBy: "connection.lost-before-commit", message: "which returned"
        ) { interruption in
            if case .commit(.lostBeforeCommit) = interruption { .returning } else { nil }
        }
        handling(
            "other-code", "A write that lost its connection throws inputOutput.",
            killedBy: "connection.lost-in-write", "connection.lost-before-commit",
            message: "StoreError.unavailable"
        ) { _ in .throwing(.inputOutput) }
        handling(
            "unknown-as-failed", "A commit whose response is lost is reported as not committed.",
            killedBy: "connection.lost-response", message: "StoreError.outcomeUnknown"
        ) { interruption in
            if case .commit(.lostResponse) = interruption { .throwing(.unavailable) } else { nil }
        }
        handling(
            "repeats-commit", "A write whose commit lost its response runs again.",
            killedBy: "connection.lost-response", message: "which returned"
        ) { interruption in
            if case .commit(.lostResponse) = interruption { .runningAgain } else { nil }
        }
        StoreMutant(
            .connection, "late-commit", "The next read does not wait for a commit that lost its connection.",
            killedBy: "connection.one-outcome", message: "the effects in a later read"
        ) { flaw in
            flaw.useServer()
            let write = flaw.write
            let late = Shared<[RecordingTransaction.Change]>([])
            flaw.write = { [server = flaw.server] base, body in
                guard server.state.nextCommit == .lostResponse else {
                    try write?(base, body)
                    return
                }
                let changes = try RecordingTransaction.changes(of: body, on: base)
                _ = server.takeCommitFault()
                late.change { $0 = changes }
                throw StoreError(.outcomeUnknown, "The connection was lost during the commit.")
            }
            flaw.read = { [hits = flaw.hits] base, body in
                try base.read(body)
                let changes = late.value
                guard !changes.isEmpty else { return }
                hits.hit()
                late.change { $0 = [] }
                try base.write { for change in changes { try change($0) } }
            }
        }
        handling(
            "rollback-ignored", "A write whose commit was answered by a rollback returns.",
            killedBy: "connection.commit-rolled-back", message: "which returned"
        ) { interruption in
            if case .commit(.rolledBack) = interruption { .returning } else { nil }
        }
        StoreMutant(
            .connection, "never-reconnects",
            "After a lost connection, the store is unavailable until it is reopened.",
            killedBy: "connection.lost-in-write", "connection.lost-in-read", "durable.server-crash",
            message: "unavailable", needsDurableStore: true
        ) { flaw in
            flaw.useServer()
            let losses = flaw.server.state.losses
            let check: @Sendable (MutantServer, MutantHits) throws -> Void = { server, hits in
                guard server.state.losses != losses else { return }
                hits.hit()
                throw StoreError(.unavailable, "The connection to the server was lost.")
            }
            flaw.read = { [server = flaw.server, hits = flaw.hits] base, body in
                try check(server, hits)
                try base.read(body)
            }
            flaw.write = { [server = flaw.server, hits = flaw.hits] base, body in
                try check(server, hits)
                try base.write(body)
            }
        }
        StoreMutant(
            .connection, "moving-read", "A read that lost its connection continues on a later snapshot.",
            killedBy: "connection.lost-in-read", message: "the second read of the same snapshot"
        ) { flaw in
            flaw.useServer()
            let losses = Shared(0)
            let store = Shared<(any SyncContextDataSource)?>(nil)
            flaw.read = { [server = flaw.server] base, body in
                losses.change { $0 = server.state.losses }
                store.change { $0 = base }
                try base.read(body)
            }
            flaw.item = { [server = flaw.server, hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.item(id: id, in: table)
                guard server.state.losses != losses.value, let store = store.value else { return right }
                return hits.changing(right, to: try store.read { try $0.item(id: id, in: table) })
            }
        }
        StoreMutant(
            .connection, "error-of-rollback", "The error of a rollback replaces that of the body.",
            killedBy: "connection.body-error", message: "the error of a write"
        ) { flaw in
            flaw.useServer()
            let write = flaw.write
            flaw.write = { [server = flaw.server, hits = flaw.hits] base, body in
                try server.replacingErrorsAfterLoss(hits) { try write?(base, body) }
            }
        }
        StoreMutant(
            .connection, "error-of-read-end", "The error at the end of a read replaces that of the body.",
            killedBy: "connection.body-error", message: "the error of a read"
        ) { flaw in
            flaw.useServer()
            flaw.read = { [server = flaw.server, hits = flaw.hits] base, body in
                try server.replacingErrorsAfterLoss(hits) { try base.read(body) }
            }
        }
        StoreMutant(
            .connection, "close-needs-connection", "A store whose connection is lost cannot be closed.",
            killedBy: "connection.close", message: "There is no connection to close."
        ) { flaw in
            flaw.useServer()
            flaw.close = { [server = flaw.server, hits = flaw.hits] base in
                try base.close()
                guard server.state.losses > 0 else { return }
                hits.hit()
                throw StoreError(.unavailable, "There is no connection to close.")
            }
        }
        StoreMutant(
            .connection, "refusal-as-cannot-open",
            "A server that refuses connections is reported as cannotOpen.",
            killedBy: "connection.refused", message: "StoreError.unavailable"
        ) { flaw in
            flaw.useServer()
            let open = flaw.openBase
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try open?(base, path, tables) ?? base.open(at: path, tables: tables) } catch {
                    hits.hit()
                    throw StoreError(.cannotOpen, "The database cannot be opened.", cause: error)
                }
            }
        }
        StoreMutant(
            .connection, "inert-faults", "The faults of the harness interrupt no connection.",
            killedBy: "connection.lost-in-write", "connection.lost-in-read", "connection.refused",
            "connection.lost-before-commit", "connection.lost-response", "connection.one-outcome",
            "connection.commit-rolled-back",
            message: "The injected fault had no effect"
        ) { flaw in
            flaw.useServer()
            flaw.hasInertFaults = true
        }
        StoreMutant(
            .connection, "relaxed-commit", "A crash of the server loses the last write.",
            killedBy: "durable.server-crash", message: "the item of the last write", needsDurableStore: true
        ) { flaw in
            flaw.useServer()
            flaw.upsert = { [server = flaw.server] transaction, items, table in
                if let id = items.last?.id { server.change { $0.lastItem = (id, table) } }
                try transaction.upsert(items, in: table)
            }
            flaw.read = { [server = flaw.server, hits = flaw.hits] base, body in
                let state = server.state
                if state.lostItems < state.crashes, let item = state.lastItem {
                    hits.hit()
                    server.change { $0.lostItems = $0.crashes }
                    try base.write { try $0.deleteItems(ids: [item.id], in: item.table) }
                }
                try base.read(body)
            }
        }
        StoreMutant(
            .connection, "unlogged", "A crash of the server empties the tables.",
            killedBy: "durable.server-crash", message: "the item of the last write", needsDurableStore: true
        ) { flaw in
            flaw.useServer()
            flaw.read = { [server = flaw.server, hits = flaw.hits] base, body in
                let state = server.state
                if state.lostItems < state.crashes {
                    hits.hit()
                    server.change { $0.lostItems = $0.crashes }
                    try base.write { _ = try $0.deleteItems(matching: TableQuery("Thing")) }
                }
                try base.read(body)
            }
        }
    }

    /// A mutant that handles some interruptions of writes wrongly, and the others correctly.
    private static func handling(
        _ name: String, _ flaw: String, killedBy killers: String..., message: String,
        _ handling: @escaping @Sendable (WriteInterruption) -> InterruptionHandling?
    ) -> StoreMutant {
        StoreMutant(.connection, name, flaw, killers: killers, message: message) { flaw in
            flaw.useServer { handling($0) ?? StoreFlaw.correctHandling($0) }
        }
    }
}

extension MutantServer {
    /// Runs the call. If the connections are lost during it, its error is replaced by that of the end of the transaction.
    fileprivate func replacingErrorsAfterLoss(_ hits: MutantHits, _ call: () throws -> Void) throws {
        let losses = state.losses
        do { try call() } catch {
            guard state.losses != losses else { throw error }
            hits.hit()
            throw StoreError(.unavailable, "The transaction cannot be ended.", cause: error)
        }
    }
}
