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
            let faults = try run.connectionFaults
            try run.expectOneEffect("a write that lost its connection", permitting: [.unavailable]) {
                try faults.closeConnections()
            }
        }
        StoreRule(
            "connection.lost-in-read",
            "A read that loses its connection throws unavailable, or continues on the same snapshot.",
            level: .full, requirement: .connectionFaults
        ) { run in
            let faults = try run.connectionFaults
            let store = try run.store
            try run.put([Item(id: "n", fields: ["count": 1])])
            let group = ThreadGroup()
            let result = Result {
                try store.read { snapshot in
                    try run.expect(try snapshot.item(id: "n", in: "Thing")?["count"], is: 1, "the first read")
                    try faults.closeConnections()
                    let isWritten = Signal()
                    group.start {
                        try RuleRun.retryingUnavailable {
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
            switch result {
            case .success(let count): try run.expect(count, is: 1, "the second read of the same snapshot")
            case .failure(let failure as StoreRuleFailure): throw failure
            case .failure(let error):
                try run.expect(throws: .unavailable, "the read that lost its connection") { throw error }
            }
            let count = try RuleRun.retryingUnavailable { try run.item("n")?["count"] }
            try run.expect(count, is: 2, "the item in the next read")
        }
        StoreRule(
            "connection.refused",
            "Opening throws unavailable while the server refuses connections, and succeeds afterwards.",
            level: .full, requirement: .connectionFaults
        ) { run in
            let faults = try run.connectionFaults
            try run.seedEverything()
            let before = try StoreDump(run.store).lines
            try faults.setAcceptsConnections(false)
            defer { try? faults.setAcceptsConnections(true) }
            for name in ["store", "other", "store", "other"] {
                try run.expect(throws: .unavailable, "opening while the server refuses connections") {
                    try run.open(name)
                }
            }
            try faults.setAcceptsConnections(true)
            let after = try RuleRun.retryingUnavailable { try StoreDump(run.store).lines }
            try run.expect(after, is: before, "the store that was open")
            try run.with("other") { other in
                try run.expect(try other.read { try $0.operationCount(in: nil) }, is: 0, "the other store")
            }
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
                let found = try RuleRun.retryingUnavailable { try run.item("last")?["count"] }
                try run.expect(found, is: .int(Int64(round + 100)), "the item of the last write")
                try run.put([Item(id: "last", fields: ["count": .int(Int64(round))])])
                try run.expect(try StoreDump(run.store).lines, is: before, "the store after the crash")
                try run.reopen()
                try run.expect(try StoreDump(run.store).lines, is: before, "the store after reopening")
            }
        }
    }
}

extension RuleRun {
    fileprivate var connectionFaults: any ConnectionFaults {
        get throws {
            guard let faults = harness.connectionFaults else {
                throw failure("The harness", expected: "connection faults", actual: "none")
            }
            return faults
        }
    }

    /// Repeats the body while the store has not connected again, at most 20 times.
    fileprivate static func retryingUnavailable<T>(_ body: () throws -> T) throws -> T {
        for _ in 0..<20 {
            do { return try body() } catch let error as StoreError where error.code == .unavailable {}
        }
        return try body()
    }

    /// Makes writes that a fault interrupts. Expects each to have its effect once if it returned; nothing of it if it
    /// threw; all or nothing if it threw `outcomeUnknown`.
    ///
    /// - Parameters:
    ///   - codes: the codes of the errors that the writes may throw.
    ///   - interrupt: runs once in the middle of the body of each write.
    fileprivate func expectOneEffect(
        _ subject: String, permitting codes: [StoreError.Code], failingCommit fault: CommitFault? = nil,
        interrupt: () throws -> Void = {}
    ) throws {
        for _ in 0..<3 {
            let before = try effects()
            if let fault { try connectionFaults.failNextCommit(fault) }
            var isFirstRun = true
            let result = Result {
                try store.write { transaction in
                    let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue ?? 0
                    try transaction.upsert(
                        [Item(id: "n", fields: ["count": .int(count + 1)])], in: "Thing")
                    if isFirstRun {
                        isFirstRun = false
                        try interrupt()
                    }
                    try transaction.put(Fixture.operation(try transaction.lastOperationID() + 1))
                }
            }
            let after = try Self.retryingUnavailable(effects)
            try expectEffect(of: result, before: before, after: after, subject, permitting: codes)
            try Self.retryingUnavailable { try put([Item(id: "next")]) }
        }
    }

    private func expectEffect(
        of result: Result<Void, any Error>, before: Int64, after: Int64, _ subject: String,
        permitting codes: [StoreError.Code]
    ) throws {
        switch result {
        case .success:
            try expect(after, is: before + 1, "the effects of \(subject), which returned")
        case .failure(let error as StoreError) where codes.contains(error.code):
            if error.code == .outcomeUnknown, after == before + 1 { return }
            try expect(after, is: before, "the effects of \(subject), which threw \(error.code)")
        case .failure(let error):
            throw failure(
                "the error of \(subject)",
                expected: codes.map { "StoreError.\($0)" }.joined(separator: " or "),
                actual: "\(type(of: error)): \(error)")
        }
    }

    /// Returns how often the write took effect, by its counter, which must equal the number of its operations.
    private func effects() throws -> Int64 {
        let (count, operations) = try store.read { snapshot in
            (
                try snapshot.item(id: "n", in: "Thing")?["count"]?.intValue ?? 0,
                Int64(try snapshot.operationCount(in: nil))
            )
        }
        try expect(operations, is: count, "the operations of the writes, beside their counter")
        return count
    }
}
