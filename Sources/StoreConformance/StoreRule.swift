// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One clause of the store contract with its check.
public struct StoreRule: Sendable, Identifiable {
    /// The clause's id, such as `item.upsert.replaces-whole`: family, subject, point.
    public let id: String
    /// The clause.
    public let sentence: String
    /// The level that requires the clause.
    public let level: StoreLevel
    /// What the rule requires of a store to apply to it; `nil` when it applies to every store.
    public let requirement: StoreRequirement?
    /// Why no check exists; `nil` when one does.
    public let untestedReason: String?
    let body: @Sendable (RuleRun) throws -> Void

    init(
        _ id: String, _ sentence: String, level: StoreLevel = .core, requirement: StoreRequirement? = nil,
        _ body: @escaping @Sendable (RuleRun) throws -> Void
    ) {
        self.id = id
        self.sentence = sentence
        self.level = level
        self.requirement = requirement
        untestedReason = nil
        self.body = body
    }

    /// Creates a clause that no check can decide.
    init(untested id: String, _ sentence: String, level: StoreLevel = .core, because reason: String) {
        self.id = id
        self.sentence = sentence
        self.level = level
        requirement = nil
        untestedReason = reason
        body = { _ in }
    }

    /// The first part of the id.
    public var family: String { String(id.prefix { $0 != "." }) }

    /// What to do when a difference is intended.
    public var remedy: String {
        if let requirement { return "If this is intended, \(requirement.remedy)." }
        return
            "The contract requires this of every store. To declare an intended difference, add '\(id)' with the reason to "
            + "StoreHarness.declaredDifferences; reports list it, and the store does not conform to the level "
            + "\(level.rawValue)."
    }
}

extension StoreRule: CustomStringConvertible {
    /// The id, so that test output names the rule.
    public var description: String { id }
}

extension StoreRule {
    /// Every clause that has a check.
    public static let all: [StoreRule] = clauses.filter { $0.untestedReason == nil }

    /// Every clause, including those that no check can decide.
    public static let clauses: [StoreRule] =
        [
            items, insertions, values, deletions, comparisons, nulls, textTests, logic, functions, arithmetic,
            orderings, windows, indexes,
            selections, rows, scans, queue, errorLog, config, transactions, largeWrites,
            lifecycle,
            opening, openingFiles, columns, columnChanges, errors, corpus, capabilities, sharing, processes,
            sharedChanges, sharedLookups, sharedSnapshots, sharedColumns, sharedOpenings, sharedProcesses,
            longWaits, durability,
            crashes, faults, connections,
            concurrency, serialization, sizes, model, specialCases, untested,
        ]
        .flatMap { $0 }

    /// The rule of that id.
    public static func named(_ id: String) -> StoreRule? { clauses.first { $0.id == id } }
}

/// Builds a list of rules from statements.
@resultBuilder
enum RuleList {
    static func buildExpression(_ rule: StoreRule) -> [StoreRule] { [rule] }
    static func buildExpression(_ rules: [StoreRule]) -> [StoreRule] { rules }
    static func buildBlock(_ rules: [StoreRule]...) -> [StoreRule] { rules.flatMap { $0 } }
}
