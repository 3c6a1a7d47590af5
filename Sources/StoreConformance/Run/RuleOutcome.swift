// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a check ended that did not fail.
public enum RuleOutcome: Sendable, Hashable {
    /// The store keeps the rule, as so many assertions found.
    case passed(assertions: Int)
    /// The rule does not speak about this store, or the store declares that it differs.
    case skipped(String)
}
