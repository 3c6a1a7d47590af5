// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The outcome of a check that did not fail.
public enum RuleOutcome: Sendable, Hashable {
    /// The store conforms to the rule; the check made this number of assertions.
    case passed(assertions: Int)
    /// The rule applies to stores with other capabilities.
    case notApplicable(String)
    /// The rule was not checked, for this reason. The store does not conform to the rule's level.
    case skipped(String)
}
