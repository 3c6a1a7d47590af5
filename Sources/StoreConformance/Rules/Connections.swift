// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// Lost connections and failing commits of stores on a server.
    @RuleList static var connections: [StoreRule] {
        StoreRule(
            "connection.lost-in-write",
            "A write that loses its connection before the commit changes nothing, or has its whole effect once.",
            level: .full, requirement: .connectionFaults
        ) { run in
            try run.expectOneEffect("a write that lost its connection", permitting: [.unavailable])
        }
        StoreRule(
            "connection.lost-in-read",
            "A read that loses its connection throws unavailable, or continues on the same snapshot.",
            level: .full, requirement: .connectionFaults
        ) { run in
            let faults = try run.connectionFaults
            let (store, patience) = (try run.store, run.effort.patience)
            try run.put([Item(id: "n", fields: ["count": 1])])
            let injected = faults.injectedCount
            let group = ThreadGroup()
            let result = Result {
                try store.read { snapshot in
                    try run.expect(try snapshot.item(id: "n", in: "Thing")?["count"], is: 1, "the first read")
                    try faults.closeConnections()
                    let isWritten = Signal()
                    group.start {
                        try RuleRun.retryingUnavailable(for: patience) {
                            try store.write {
                                try $0.upsert([Item(id: "n", fields: ["count": 2])], in: "Thing")
                            }
                        }
                        isWritten.send()
                    }
                    // A store without concurrent readers writes after the read.
                    if store.capabilities.hasConcurrentReaders { _ = run.wait(for: isWritten) }
                    return try snapshot.item(id: "n", in: "Thing")?["count"]
                }
            }
            try run.join(group)
            try run.expectInjected(after: injected, by: "closeConnections()")
            switch result {
            case .success(let count): try run.expect(count, is: 1, "the second read of the same snapshot")
            case .failure(let failure as StoreRuleFailure): throw failure
            case .failure(let error):
                try run.expect(throws: .unavailable, "the read that lost its connection") { throw error }
            }
            let count = try run.retryingUnavailable { try run.item("n")?["count"] }
            try run.expect(count, is: 2, "the item in the next read")
        }
        StoreRule(
            "connection.body-error",
            "The error of a body is thrown unchanged, although the connection is lost when the store rolls back.",
            level: .full, requirement: .connectionFaults
        ) { run in
            let (faults, store) = (try run.connectionFaults, try run.store)
            try run.put([Item(id: "n")])
            for number in 1...3 {
                let injected = faults.injectedCount
                try run.expectError("AppError(\(number))", "the error of a read") {
                    try run.whileConnecting { hasRun in
                        try store.read { snapshot in
                            hasRun = true
                            _ = try snapshot.item(id: "n", in: "Thing")
                            try faults.closeConnections()
                            throw AppError(number)
                        }
                    }
                } _: {
                    $0 as? AppError == AppError(number)
                }
                try run.expectError("AppError(\(number))", "the error of a write") {
                    try run.whileConnecting { hasRun in
                        try store.write { transaction in
                            hasRun = true
                            try transaction.upsert([Item(id: "bad")], in: "Thing")
                            try faults.closeConnections()
                            throw AppError(number)
                        }
                    }
                } _: {
                    $0 as? AppError == AppError(number)
                }
                try run.expectInjected(after: injected, by: "closeConnections()")
                try run.expect(try run.retryingUnavailable { try run.ids() }, is: ["n"], "the ids afterwards")
            }
        }
        StoreRule(
            "connection.close", "A store whose connections are lost can be closed, also twice.",
            level: .full, requirement: .connectionFaults
        ) { run in
            let (faults, store) = (try run.connectionFaults, try run.open("closed"))
            try store.write { try $0.upsert([Item(id: "a")], in: "Thing") }
            let injected = faults.injectedCount
            try faults.closeConnections()
            try run.expectInjected(after: injected, by: "closeConnections()")
            for _ in 0..<2 { try store.close() }
            guard store.capabilities.isDurable else { return }
            let ids = try run.retryingUnavailable {
                try run.withStoreOfKilledProcess("closed") { store in
                    try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
                }
            }
            try run.expect(ids, is: ["a"], "the ids in the next opening")
        }
        StoreRule(
            "connection.refused",
            "Opening throws unavailable while the server refuses connections, and succeeds afterwards.",
            level: .full, requirement: .connectionFaults
        ) { run in
            let faults = try run.connectionFaults
            try run.seedEverything()
            let before = try StoreDump(run.store).lines
            let injected = faults.injectedCount
            try faults.setAcceptsConnections(false)
            defer { try? faults.setAcceptsConnections(true) }
            for name in ["store", "other", "store", "other"] {
                let opening = Result { try run.open(name) }
                if case .success = opening {
                    try run.expectInjected(after: injected, by: "setAcceptsConnections(false)")
                }
                try run.expect(throws: .unavailable, "opening while the server refuses connections") {
                    try opening.get()
                }
            }
            try run.expectInjected(after: injected, by: "setAcceptsConnections(false)")
            try faults.setAcceptsConnections(true)
            let after = try run.retryingUnavailable { try StoreDump(run.store).lines }
            try run.expect(after, is: before, "the store that was open")
            let other = try run.retryingUnavailable { try run.open("other") }
            let count = try run.retryingUnavailable { try other.read { try $0.operationCount(in: nil) } }
            try run.expect(count, is: 0, "the other store")
        }
        StoreRule(
            "connection.lost-before-commit",
            "A write that loses its connection at the commit, before the server commits, returns only with its effect.",
            level: .full, requirement: .connectionFaults
        ) { run in
            try run.expectOneEffect(
                "a write whose commit did not reach the server", permitting: [.unavailable, .outcomeUnknown],
                failingCommit: .lostBeforeCommit)
        }
        StoreRule(
            "connection.lost-response",
            "A write whose commit loses its response throws outcomeUnknown, or has its effect once.",
            level: .full, requirement: .connectionFaults
        ) { run in
            try run.expectOneEffect(
                "a write whose commit lost its response", permitting: [.outcomeUnknown],
                failingCommit: .lostResponse)
        }
        StoreRule(
            "connection.one-outcome",
            "After a write whose commit lost its connection, all reads and writes see the same outcome.",
            level: .full, requirement: .connectionFaults
        ) { run in
            try run.expectOneOutcome()
        }
        StoreRule(
            "connection.commit-rolled-back",
            "A write whose commit is answered by a rollback does not return as if it had been committed.",
            level: .full, requirement: .connectionFaults
        ) { run in
            try run.expectOneEffect(
                "a write whose commit was answered by a rollback", permitting: [.unavailable, .inputOutput],
                failingCommit: .rolledBack)
        }
        StoreRule(
            "durable.server-crash", "A crash of the server loses no returned write.", level: .durable,
            requirement: .serverCrash
        ) { run in
            guard let crashServer = run.harness.crashServer else { return }
            try run.seedEverything()
            for round in 0..<3 {
                try run.put([Item(id: "last", fields: ["count": .int(Int64(round))])])
                try run.put([Fixture.operation(Int64(round + 10))])
                let before = try StoreDump(run.store).lines
                try run.put([Item(id: "last", fields: ["count": .int(Int64(round + 100))])])
                try crashServer()
                let found = try run.retryingUnavailable { try run.item("last")?["count"] }
                try run.expect(found, is: .int(Int64(round + 100)), "the item of the last write")
                try run.retryingUnavailable {
                    try run.put([Item(id: "last", fields: ["count": .int(Int64(round))])])
                }
                let after = try run.retryingUnavailable { try StoreDump(run.store).lines }
                try run.expect(after, is: before, "the store after the crash")
                try run.reopen()
                try run.expect(try StoreDump(run.store).lines, is: before, "the store after reopening")
            }
        }
    }
}
