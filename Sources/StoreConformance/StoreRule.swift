// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One clause of the store contract, and how to check it.
public struct StoreRule: Sendable, Identifiable {
    /// The clause's name, such as `item.upsert.replaces-whole`: family, subject, point.
    public let id: String
    /// The clause.
    public let sentence: String
    /// The level it belongs to.
    public let level: StoreLevel
    /// Which stores it speaks about; `nil` for all.
    public let need: StoreRequirement?
    /// Why no check exists; `nil` when one does.
    public let untestedReason: String?
    let body: @Sendable (RuleRun) throws -> Void

    init(
        _ id: String, _ sentence: String, level: StoreLevel = .core, need: StoreRequirement? = nil,
        _ body: @escaping @Sendable (RuleRun) throws -> Void
    ) {
        self.id = id
        self.sentence = sentence
        self.level = level
        self.need = need
        untestedReason = nil
        self.body = body
    }

    /// A clause that no check can decide.
    init(untested id: String, _ sentence: String, level: StoreLevel = .core, because reason: String) {
        self.id = id
        self.sentence = sentence
        self.level = level
        need = nil
        untestedReason = reason
        body = { _ in }
    }

    /// The first part of the id.
    public var family: String { String(id.prefix { $0 != "." }) }

    /// What an author does who differs on purpose.
    public var remedy: String {
        if let need { return "If that is by design, \(need.remedy)." }
        return
            "The contract asks this of every store. To differ all the same, add '\(id)' with the reason to "
            + "StoreHarness.declaredDifferences; reports will show it, and the store does not count as "
            + "\(level.rawValue) conformant."
    }
}

extension StoreRule: CustomStringConvertible {
    /// The id, so that test output names the rule.
    public var description: String { id }
}

extension StoreRule {
    /// Every clause that has a check.
    public static let all: [StoreRule] = clauses.filter { $0.untestedReason == nil }

    /// Every clause, also those that no check can decide.
    public static let clauses: [StoreRule] =
        [
            items, insertions, values, deletions, comparisons, nulls, textTests, logic, functions, arithmetic,
            orderings, windows, selections, scans, queue, errorLog, config, transactions, lifecycle, opening,
            columns,
            errors, corpus, capabilities, durability, crashes, faults, concurrency, sizes, model, untested,
        ]
        .flatMap { $0 }

    /// The rule of that id.
    public static func named(_ id: String) -> StoreRule? { clauses.first { $0.id == id } }
}

/// Lists rules one after another, each a statement of its own.
@resultBuilder
enum RuleList {
    static func buildExpression(_ rule: StoreRule) -> [StoreRule] { [rule] }
    static func buildExpression(_ rules: [StoreRule]) -> [StoreRule] { rules }
    static func buildBlock(_ rules: [StoreRule]...) -> [StoreRule] { rules.flatMap { $0 } }
}
