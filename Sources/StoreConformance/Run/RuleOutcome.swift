// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a check ended that did not fail.
public enum RuleOutcome: Sendable, Hashable {
    /// The store keeps the rule, as so many assertions found.
    case passed(assertions: Int)
    /// The rule speaks about stores that declare something else; the rule for the other side speaks about this one.
    case notApplicable(String)
    /// The rule was not checked, for this reason. The store does not reach the rule's level.
    case skipped(String)
}
