// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Faults of the connections between the stores of a harness and their server.
///
/// An author implements this for a store on a server, for example with a proxy between the store and the server.
public protocol ConnectionFaults: Sendable {
    /// Closes all connections of the harness's stores. A rule calls this also inside the body of a write or a read.
    func closeConnections() throws

    /// Sets whether the server accepts new connections.
    func setAcceptsConnections(_ accepts: Bool) throws

    /// Makes the next commit of a write fail, once.
    func failNextCommit(_ fault: CommitFault) throws

    /// The number of faults that had an effect: open connections that were closed, new connections that were refused, and
    /// commits that failed. It never decreases.
    ///
    /// A rule fails when its fault had no effect, because the store was not tested then.
    var injectedCount: Int { get }
}

/// A fault of the commit of a write.
public enum CommitFault: Sendable, Hashable, CaseIterable {
    /// The connection is lost before the commit reaches the server, which rolls the transaction back.
    case lostBeforeCommit
    /// The server commits, and the connection is lost before its response reaches the store. A harness whose server commits
    /// some time after the loss also tests that the store waits for it.
    case lostResponse
    /// The server rolls the transaction back, and its response says so without an error.
    case rolledBack
}
