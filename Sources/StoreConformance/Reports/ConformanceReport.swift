// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// How a store fared with every rule.
public struct ConformanceReport: Sendable {
    /// The version of the rules.
    public static let suiteVersion = "1.0"

    /// The store's name.
    public let store: String
    /// What the store declares.
    public let capabilities: StoreCapabilities
    /// The seed of everything random.
    public let seed: UInt64
    /// How long random checks went on.
    public let effort: SuiteEffort
    /// A result for each rule, in the order of the rules.
    public let results: [Result]

    /// How a store fared with one rule.
    public struct Result: Sendable {
        /// The rule.
        public let rule: StoreRule
        /// How the check ended.
        public let ending: Ending
        /// How long it took.
        public let duration: Duration

        /// How a check ended.
        public enum Ending: Sendable {
            /// As an outcome that is no failure.
            case outcome(RuleOutcome)
            /// The store broke the rule.
            case failed(StoreRuleFailure)
        }
    }

    /// How a store stands to a level.
    public enum Standing: String, Sendable, Hashable {
        /// All its rules and those of core are kept.
        case conformant
        /// A rule is broken or was not checked.
        case notConformant = "not conformant"
        /// The store does not declare what the level is about.
        case notDeclared = "not declared"
    }

    /// How the store stands to that level.
    public func standing(_ level: StoreLevel) -> Standing {
        if level == .durable, !capabilities.isDurable {
            return isKept(.durable) ? .notDeclared : .notConformant
        }
        switch level {
        case .core: return isKept(.core) ? .conformant : .notConformant
        case .full: return StoreLevel.allCases.allSatisfy(isKept) ? .conformant : .notConformant
        default: return isKept(.core) && isKept(level) ? .conformant : .notConformant
        }
    }

    /// Whether every rule of the level was checked, or needs no check, and none is broken.
    private func isKept(_ level: StoreLevel) -> Bool {
        let kept = Set(results.filter { !$0.isObstacle }.map(\.rule.id))
        return StoreRule.all.allSatisfy { $0.level != level || kept.contains($0.id) }
    }

    /// Whether no rule that was checked is broken.
    public var hasNoFailure: Bool { failures.isEmpty }

    /// The rules that were broken.
    public var failures: [StoreRuleFailure] { results.compactMap(\.failure) }

    /// How many assertions all checks made.
    public var assertions: Int { results.map(\.assertions).reduce(0, +) }

    /// What the random checks were drawn from, and how long they went on.
    var course: String {
        "seed \(seed), \(effort.modelScripts) scripts of \(effort.modelLength) steps, \(effort.kills) kills"
    }

    /// How many rules ended so.
    public func count(_ status: Result.Status) -> Int { results.count { $0.status == status } }
}

extension ConformanceReport.Result {
    /// How a check ended, in one word.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// The store keeps the rule.
        case passed
        /// The store breaks the rule.
        case failed
        /// The rule was not checked.
        case skipped
        /// The rule speaks about other stores.
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

    /// What the store did wrong.
    public var failure: StoreRuleFailure? {
        if case .failed(let failure) = ending { failure } else { nil }
    }

    /// Why there was no check.
    public var reason: String? {
        if let reason = rule.untestedReason { return reason }
        switch ending {
        case .outcome(.skipped(let reason)), .outcome(.notApplicable(let reason)): return reason
        default: return nil
        }
    }

    /// How many assertions the check made.
    public var assertions: Int {
        if case .outcome(.passed(let assertions)) = ending { assertions } else { 0 }
    }

    fileprivate var isObstacle: Bool { status == .failed || status == .skipped }

    var seconds: Double { duration / .seconds(1) }
}

extension ConformanceReport {
    /// Checks every rule on stores of that harness, one after another.
    ///
    /// - Parameter progress: is told each result as it comes.
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
