// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

extension StoreRule {
    /// The seed that checks use unless they are given another.
    public static let defaultSeed: UInt64 = 20_14

    /// Checks the rule on fresh stores of that harness.
    ///
    /// Works under any test framework, and under none: what matters is whether it throws.
    ///
    /// - Parameters:
    ///   - seed: what everything random in the check is drawn from.
    ///   - effort: how long random checks go on.
    ///   - limit: after how long a store counts as stuck.
    /// - Throws: ``StoreRuleFailure``.
    @discardableResult
    public func check(
        _ harness: some StoreHarness, seed: UInt64 = StoreRule.defaultSeed,
        effort: SuiteEffort = .standard, limit: Duration = .seconds(300)
    ) async throws -> RuleOutcome {
        let run = Mutex<Trace?>(nil)
        let answer = OneAnswer<RuleOutcome>()
        return try await withCheckedThrowingContinuation { continuation in
            answer.continuation.withLock { $0 = continuation }
            Thread.startDeep {
                answer.give(
                    Result {
                        try checkNow(harness, seed: seed, effort: effort) { trace in
                            run.withLock { $0 = trace }
                        }
                    })
            }
            let seconds = Double(limit.components.seconds)
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
                let trace = run.withLock { $0?.tail() } ?? []
                answer.give(
                    .failure(stuck(harness, seed: seed, effort: effort, trace: trace, seconds: seconds)))
            }
        }
    }

    /// Checks the rule on the calling thread.
    func checkNow(
        _ harness: some StoreHarness, seed: UInt64 = StoreRule.defaultSeed,
        effort: SuiteEffort = .standard, _ started: (Trace) -> Void = { _ in }
    ) throws -> RuleOutcome {
        if let reason = untestedReason { return .skipped("Untested: \(reason)") }
        if let reason = harness.declaredDifferences[id] { return .skipped("Declared difference: \(reason)") }
        let run = try RuleRun(self, harness, seed: seed, effort: effort)
        defer { run.cleanUp() }
        started(run.trace)
        do {
            if let outcome = try run.outcomeWithoutCheck() { return outcome }
            try body(run)
            try run.finish()
        } catch let failure as StoreRuleFailure {
            throw failure
        } catch {
            throw run.failure(
                "The store threw where it must not.", expected: "no error",
                actual: "\(type(of: error)): \(error)")
        }
        guard run.assertions > 0 else {
            throw run.failure("The check looked at nothing.", expected: "assertions", actual: "none")
        }
        return .passed(assertions: run.assertions)
    }

    private func stuck(
        _ harness: some StoreHarness, seed: UInt64, effort: SuiteEffort, trace: [String], seconds: Double
    ) -> StoreRuleFailure {
        StoreRuleFailure(
            ruleID: id, sentence: sentence, store: harness.name, subject: "The check did not come to an end.",
            expected: "an end within \(seconds) s", actual: "the store is stuck in the last call",
            operations: trace, seed: seed, effort: effort, remedy: remedy)
    }
}

extension RuleRun {
    /// What is said of a store that the rule does not speak about.
    fileprivate func outcomeWithoutCheck() throws -> RuleOutcome? {
        guard let need = rule.need else { return nil }
        let capabilities = try with("capabilities") { $0.capabilities }
        if let reason = need.mismatch(with: capabilities) { return .notApplicable(reason) }
        guard need != .childProgram || harness.child != nil else {
            return .skipped("The harness names no child program; see StoreHarness.child.")
        }
        return nil
    }
}

extension Thread {
    /// Starts a thread with stack enough for filters that are nested a thousand deep.
    static func startDeep(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 64 << 20
        thread.start()
    }
}

/// Resumes its continuation with the first answer it is given.
private final class OneAnswer<T: Sendable>: Sendable {
    let continuation = Mutex<CheckedContinuation<T, any Error>?>(nil)

    func give(_ result: Result<T, any Error>) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        waiting?.resume(with: result)
    }
}
