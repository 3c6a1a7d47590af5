// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Helpers for the rules about connections.
extension RuleRun {
    var connectionFaults: any ConnectionFaults {
        get throws {
            guard let faults = harness.connectionFaults else {
                throw failure("The harness", expected: "connection faults", actual: "none")
            }
            return faults
        }
    }

    /// Expects a fault to have had an effect: without one, the rule would not test the store.
    ///
    /// - Parameters:
    ///   - count: the count of effective faults before.
    ///   - hook: the call that injected the fault.
    func expectInjected(after count: Int, by hook: String) throws {
        let now = try connectionFaults.injectedCount
        guard now <= count else { return try expect(true, "The fault had an effect.") }
        throw failure(
            "The injected fault had no effect, so the store was not tested: \(hook) of StoreHarness.connectionFaults "
                + "interrupted no connection and no commit of the store, or injectedCount does not count it. "
                + "Let the store connect through the object that injects the faults.",
            expected: "an injectedCount of more than \(count)", actual: "\(now)")
    }

    /// Repeats the body while the store has not connected again, as long as the effort's patience.
    func retryingUnavailable<T>(_ body: () throws -> T) throws -> T {
        try Self.retryingUnavailable(for: effort.patience, body)
    }

    /// Repeats the body while the store has not connected again, at most for this number of seconds.
    static func retryingUnavailable<T>(for seconds: Double, _ body: () throws -> T) throws -> T {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            do { return try body() } catch let error as StoreError where error.code == .unavailable {
                if ContinuousClock.now > end { throw error }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    /// Repeats the call while the store is unavailable before the body has run, because it is still connecting.
    func whileConnecting(_ call: (_ hasRun: inout Bool) throws -> Void) throws {
        let end = ContinuousClock.now + .seconds(effort.patience)
        var hasRun = false
        while true {
            do { return try call(&hasRun) } catch let error as StoreError
                where error.code == .unavailable && !hasRun && ContinuousClock.now < end
            {
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    /// Makes writes that a fault interrupts. Expects each to have its effect once if it returned; nothing of it if it
    /// threw; all or nothing if it threw `outcomeUnknown`.
    ///
    /// - Parameters:
    ///   - codes: the codes of the errors that the writes may throw.
    ///   - fault: the fault of the commit; `nil` closes all connections once in the middle of the body.
    func expectOneEffect(
        _ subject: String, permitting codes: [StoreError.Code], failingCommit fault: CommitFault? = nil
    ) throws {
        let faults = try connectionFaults
        for _ in 0..<3 {
            let before = try retryingUnavailable(effects)
            let injected = faults.injectedCount
            if let fault { try faults.failNextCommit(fault) }
            let result = try interruptedWrite(closingConnections: fault == nil)
            let after = try retryingUnavailable(effects)
            try expectInjected(
                after: injected, by: fault.map { "failNextCommit(.\($0))" } ?? "closeConnections()")
            try expectEffect(of: result, before: before, after: after, subject, permitting: codes)
            try retryingUnavailable { try put([Item(id: "next")]) }
        }
    }

    /// Makes writes whose commits lose their connection. Expects the first read after each to show the outcome: later reads
    /// and writes see the same one.
    func expectOneOutcome() throws {
        let faults = try connectionFaults
        for (round, fault) in [CommitFault.lostResponse, .lostBeforeCommit, .lostResponse].enumerated() {
            let injected = faults.injectedCount
            try faults.failNextCommit(fault)
            _ = try interruptedWrite(closingConnections: false)
            try expectInjected(after: injected, by: "failNextCommit(.\(fault))")
            if round == 2, try store.capabilities.isDurable { try retryingUnavailable { try reopen() } }
            let outcome = try retryingUnavailable(effects)
            for _ in 0..<3 {
                try expect(try retryingUnavailable(effects), is: outcome, "the effects in a later read")
            }
            let seen = try retryingUnavailable {
                try store.write { transaction in
                    try transaction.upsert([Item(id: "next")], in: "Thing")
                    return try effectCount(in: transaction)
                }
            }
            try expect(seen, is: outcome, "the effects in a later write")
            try expect(try retryingUnavailable(effects), is: outcome, "the effects after a later write")
        }
    }

    /// Makes a write; makes it again while the store is unavailable before the fault, because it is still connecting.
    private func interruptedWrite(closingConnections: Bool) throws -> Result<Void, any Error> {
        let faults = try connectionFaults
        let injected = faults.injectedCount
        let end = ContinuousClock.now + .seconds(effort.patience)
        while true {
            var hasRun = false
            let result = Result {
                try store.write { transaction in
                    let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue ?? 0
                    try transaction.upsert(
                        [Item(id: "n", fields: ["count": .int(count + 1)])], in: "Thing")
                    if closingConnections, !hasRun { try faults.closeConnections() }
                    hasRun = true
                    try transaction.put(Fixture.operation(try transaction.lastOperationID() + 1))
                }
            }
            guard case .failure(let error as StoreError) = result, error.code == .unavailable,
                !(hasRun && closingConnections), faults.injectedCount == injected, ContinuousClock.now < end
            else { return result }
            Thread.sleep(forTimeInterval: 0.001)
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

    private func effects() throws -> Int64 { try store.read { try effectCount(in: $0) } }

    /// Returns how often the write took effect, by its counter, which must equal the number of its operations.
    private func effectCount(in snapshot: any StoreSnapshot) throws -> Int64 {
        let count = try snapshot.item(id: "n", in: "Thing")?["count"]?.intValue ?? 0
        let operations = Int64(try snapshot.operationCount(in: nil))
        try expect(operations, is: count, "the operations of the writes, beside their counter")
        return count
    }
}
