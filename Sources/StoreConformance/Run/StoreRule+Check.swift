// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

extension StoreRule {
    /// The default seed of checks.
    public static let defaultSeed: UInt64 = 20_14

    /// Checks the rule on fresh stores of the harness.
    ///
    /// Works with any test framework or none: a check fails by throwing.
    ///
    /// - Parameters:
    ///   - seed: the seed of all random values in the check.
    ///   - effort: the length of random checks.
    ///   - limit: the time after which the check fails because the store is stuck; for one random script or one killed
    ///     process when the check has several. Its child processes are ended then.
    /// - Throws: ``StoreRuleFailure``.
    @discardableResult
    public func check(
        _ harness: some StoreHarness, seed: UInt64 = StoreRule.defaultSeed,
        effort: SuiteEffort = .standard, limit: Duration = .seconds(300)
    ) async throws -> RuleOutcome {
        let current = Mutex<(trace: Trace, directory: String)?>(nil)
        let firstResult = FirstResult<RuleOutcome>()
        return try await withCheckedThrowingContinuation { continuation in
            firstResult.continuation.withLock { $0 = continuation }
            Thread.startDeep {
                firstResult.resume(
                    Result {
                        try checkNow(harness, seed: seed, effort: effort) { run in
                            let started = (run.trace, run.directory)
                            current.withLock { $0 = started }
                        }
                    })
            }
            let seconds = limit / .seconds(1)
            @Sendable func watch(_ parts: Int) {
                DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
                    let run = current.withLock { $0 }
                    let startedParts = run?.trace.parts ?? 0
                    guard startedParts == parts else { return watch(startedParts) }
                    let failure = stuck(
                        harness, seed: seed, effort: effort, trace: run?.trace.tail() ?? [], seconds: seconds)
                    // Ending the processes makes the check return, so this is the first result from now on.
                    guard let waiting = firstResult.takeContinuation() else { return }
                    if let run { ChildProcesses.end(in: run.directory) }
                    waiting.resume(throwing: failure)
                }
            }
            watch(0)
        }
    }

    /// Checks the rule on the calling thread.
    func checkNow(
        _ harness: some StoreHarness, seed: UInt64 = StoreRule.defaultSeed,
        effort: SuiteEffort = .standard, _ started: (RuleRun) -> Void = { _ in }
    ) throws -> RuleOutcome {
        if let reason = untestedReason { return .skipped("Untested: \(reason)") }
        if let reason = harness.declaredDifferences[id] { return .skipped("Declared difference: \(reason)") }
        let run = try RuleRun(self, harness, seed: seed, effort: effort)
        defer { run.cleanUp() }
        started(run)
        do {
            if let outcome = try run.outcomeWithoutCheck() { return outcome }
            try body(run)
            try run.finish()
        } catch let failure as StoreRuleFailure {
            throw failure
        } catch {
            throw run.failure(
                "The store threw an unexpected error.", expected: "no error",
                actual: "\(type(of: error)): \(error)")
        }
        guard run.assertions > 0 else {
            throw run.failure("The check made no assertion.", expected: "at least one", actual: "none")
        }
        return .passed(assertions: run.assertions)
    }

    private func stuck(
        _ harness: some StoreHarness, seed: UInt64, effort: SuiteEffort, trace: [String], seconds: Double
    ) -> StoreRuleFailure {
        StoreRuleFailure(
            ruleID: id, sentence: sentence, store: harness.name, subject: "The check did not finish.",
            expected: "a result within \(seconds) s", actual: "the last call has not returned",
            operations: trace, seed: seed, effort: effort,
            repetition: repetition(on: harness, seed: seed, effort: effort), remedy: remedy)
    }
}

extension RuleRun {
    /// Returns the outcome when the rule does not apply to the store or cannot be checked.
    fileprivate func outcomeWithoutCheck() throws -> RuleOutcome? {
        guard let requirement = rule.requirement else { return nil }
        let capabilities = try with("capabilities") { $0.capabilities }
        if let reason = requirement.mismatch(with: capabilities, of: harness) {
            return .notApplicable(reason)
        }
        return requirement.missingHook(of: harness).map { .skipped("The harness provides no \($0).") }
    }
}

extension Thread {
    /// Starts a thread whose stack is large enough for filters with a thousand levels.
    static func startDeep(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.stackSize = 64 << 20
        thread.start()
    }
}

/// Resumes a continuation with the first result and ignores later ones.
private final class FirstResult<T: Sendable>: Sendable {
    let continuation = Mutex<CheckedContinuation<T, any Error>?>(nil)

    func resume(_ result: Result<T, any Error>) { takeContinuation()?.resume(with: result) }

    /// Returns the continuation, once.
    func takeContinuation() -> CheckedContinuation<T, any Error>? {
        continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
    }
}
