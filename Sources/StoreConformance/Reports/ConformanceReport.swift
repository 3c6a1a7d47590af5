// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// The results of a store for every rule.
public struct ConformanceReport: Sendable {
    /// The version of the rules.
    public static let suiteVersion = "1.0"

    /// The store's name.
    public let store: String
    /// The capabilities that the store declares.
    public let capabilities: StoreCapabilities
    /// The seed of all random values.
    public let seed: UInt64
    /// The length of random checks.
    public let effort: SuiteEffort
    /// The result of each rule, in the order of the rules.
    public let results: [Result]

    /// The result of a store for one rule.
    public struct Result: Sendable {
        /// The rule.
        public let rule: StoreRule
        /// How the check ended.
        public let ending: Ending
        /// The duration of the check.
        public let duration: Duration

        /// How a check ended.
        public enum Ending: Sendable {
            /// The check ended without a failure.
            case outcome(RuleOutcome)
            /// The store broke the rule.
            case failed(StoreRuleFailure)
        }
    }

    /// Whether a store conforms to a level.
    public enum Standing: String, Sendable, Hashable {
        /// The store conforms to all rules of the level and of core.
        case conformant
        /// The store breaks a rule, or a rule was not checked.
        case notConformant = "not conformant"
        /// The store does not declare the level's capability.
        case notDeclared = "not declared"
    }

    /// Returns whether the store conforms to the level.
    public func standing(_ level: StoreLevel) -> Standing {
        if level == .durable, !capabilities.isDurable {
            return conforms(to: .durable) ? .notDeclared : .notConformant
        }
        switch level {
        case .core: return conforms(to: .core) ? .conformant : .notConformant
        case .full: return StoreLevel.allCases.allSatisfy(conforms) ? .conformant : .notConformant
        default: return conforms(to: .core) && conforms(to: level) ? .conformant : .notConformant
        }
    }

    /// Returns whether every rule of the level was checked or does not apply, and none is broken.
    private func conforms(to level: StoreLevel) -> Bool {
        let passed = Set(results.filter { !$0.preventsConformance }.map(\.rule.id))
        return StoreRule.all.allSatisfy { $0.level != level || passed.contains($0.id) }
    }

    /// Whether the store breaks no checked rule.
    public var hasNoFailure: Bool { failures.isEmpty }

    /// The failures of all broken rules.
    public var failures: [StoreRuleFailure] { results.compactMap(\.failure) }

    /// The number of assertions in all checks.
    public var assertions: Int { results.map(\.assertions).reduce(0, +) }

    /// The seed and the length of random checks.
    var parameters: String {
        "seed \(seed), \(effort.modelScripts) scripts of \(effort.modelLength) steps, \(effort.kills) kills"
    }

    /// Returns the number of rules with this status.
    public func count(_ status: Result.Status) -> Int { results.count { $0.status == status } }
}

extension ConformanceReport.Result {
    /// The status of a rule.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// The store conforms to the rule.
        case passed
        /// The store breaks the rule.
        case failed
        /// The rule was not checked.
        case skipped
        /// The rule applies to stores with other capabilities.
        case notApplicable = "not applicable"
        /// No check can decide the rule.
        case untested
    }

    /// How the check ended.
    public var status: Status {
        if rule.untestedReason != nil { return .untested }
        switch ending {
        case .failed: return .failed
        case .outcome(.passed): return .passed
        case .outcome(.notApplicable): return .notApplicable
        case .outcome(.skipped): return .skipped
        }
    }

    /// The failure, if the store breaks the rule.
    public var failure: StoreRuleFailure? {
        if case .failed(let failure) = ending { failure } else { nil }
    }

    /// The reason that the rule was not checked, if so.
    public var reason: String? {
        if let reason = rule.untestedReason { return reason }
        switch ending {
        case .outcome(.skipped(let reason)), .outcome(.notApplicable(let reason)): return reason
        default: return nil
        }
    }

    /// The number of assertions in the check.
    public var assertions: Int {
        if case .outcome(.passed(let assertions)) = ending { assertions } else { 0 }
    }

    fileprivate var preventsConformance: Bool { status == .failed || status == .skipped }

    var seconds: Double { duration / .seconds(1) }
}

extension ConformanceReport {
    /// Checks every rule on stores of the harness, one after another.
    ///
    /// - Parameter progress: is called with each result.
    public static func checking(
        _ harness: some StoreHarness, rules: [StoreRule] = StoreRule.clauses,
        seed: UInt64 = StoreRule.defaultSeed, effort: SuiteEffort = .standard,
        progress: (Result) -> Void = { _ in }
    ) async throws -> ConformanceReport {
        guard let probe = StoreRule.named("capability.constant") else { preconditionFailure("No such rule.") }
        let run = try RuleRun(probe, harness, seed: seed, effort: effort)
        defer { run.cleanUp() }
        let capabilities = try run.with("probe") { $0.capabilities }
        var results: [Result] = []
        for rule in rules {
            let start = ContinuousClock.now
            let ending: Result.Ending
            do {
                ending = .outcome(try await rule.check(harness, seed: seed, effort: effort))
            } catch let failure as StoreRuleFailure {
                ending = .failed(failure)
            }
            let result = Result(rule: rule, ending: ending, duration: ContinuousClock.now - start)
            progress(result)
            results.append(result)
        }
        return ConformanceReport(
            store: harness.name, capabilities: capabilities, seed: seed, effort: effort, results: results)
    }
}
