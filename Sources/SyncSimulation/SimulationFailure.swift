// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a simulation found wrong.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    /// A rule that always holds.
    public enum Invariant: String, Sendable, CaseIterable {
        /// Every acknowledged edit reaches the server, is replaced by a later edit or a decision, or is pending.
        case lostEdit
        /// No change of another user is overwritten by a user who has not seen it.
        case overwrite
        /// No edit is applied again after a later edit of the same user.
        case doubledEdit
        /// An item without pending operation does not return to an earlier state of the server's row.
        case staleRow
        /// Every write of a device names the version that it replaces.
        case condition
        /// An item and its operation change together; an item without operation is a state of the server's row.
        case atomicity
        /// An item has at most two operations, and every error belongs to an operation.
        case queue
        /// No delta token is ahead of the stored rows.
        case token
        /// After a pull that succeeded, no row of the server is missing.
        case completeness
        /// At the end all devices have the server's rows.
        case convergence
        /// After the faults end, every operation is completed, or waits for a decision.
        case liveness
        /// Every operation that waits for a decision is reported.
        case unreported
        /// An observer sees committed states, in order, and the last one.
        case observation
        /// A request has no local-only columns, and selects none that the server does not have.
        case columns
        /// Inserts of parents are sent before those of children, and deletes of children before those of parents.
        case order
        /// An operation is parked only after as many refusals as the setting says.
        case parking
        /// Requests are sent again only as `Retry-After` and the retry budget allow, and a push sends nothing after the
        /// service has stopped answering.
        case retry
        /// A device never has a conflict with its own changes.
        case falseConflict
        /// The results and errors of a delegate are those of its operations.
        case delegate
        /// A resolver is called for every conflict that a pull stores.
        case resolver
        /// A call throws only documented errors.
        case error
        /// A counter has the sum of all counts, if every failed request is known not to have been applied.
        case count
        /// A store can be read after every commit.
        case store
    }

    /// The rule that does not hold.
    public let invariant: Invariant
    /// What was found.
    public let detail: String
    /// How many acts had begun.
    public let step: Int

    /// The rule, the step and what was found.
    public var description: String { "\(invariant) after \(step) acts: \(detail)" }
}

extension SimulationFailure: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
