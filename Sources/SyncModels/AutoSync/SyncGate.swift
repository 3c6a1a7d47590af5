// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A time before which no round runs by itself.
struct SyncGate {
    enum Cause { case failure, server, otherProcess }

    private(set) var until: Duration
    let cause: Cause
    /// The end of the wait that the server has asked for, with a random delay after it, so that not all devices come back at
    /// once. A later failure does not shorten it.
    private(set) var serverEnd: Duration?
    /// The end of that wait without the delay.
    private(set) var requestedEnd: Duration?

    /// Makes the gate that follows another one.
    ///
    /// - Parameter requestedEnd: the end of the wait that the server has asked for now.
    init(
        _ cause: Cause, until end: Duration, requestedEnd newEnd: Duration?, after former: SyncGate?,
        at now: Duration
    ) {
        requestedEnd = [former?.requestedEnd, newEnd].compactMap(\.self).max()
        let ends = [former?.serverEnd, cause == .server ? end : nil].compactMap(\.self)
        serverEnd = ends.max().flatMap { $0 > now ? $0 : nil }
        // A wait for which the change feed asks does not shorten the delay after a failure.
        let failureEnd = cause == .server && former?.cause == .failure ? former?.until : nil
        until = [end, serverEnd, failureEnd].compactMap(\.self).max() ?? end
        self.cause = serverEnd == until ? .server : failureEnd == until ? .failure : cause
    }

    /// The gate without what is not the server's wait.
    var ofServer: SyncGate? {
        serverEnd.map { SyncGate(.server, until: $0, requestedEnd: requestedEnd, after: nil, at: .zero) }
    }

    mutating func move(by offset: Duration) {
        until += offset
        serverEnd = serverEnd.map { $0 + offset }
        requestedEnd = requestedEnd.map { $0 + offset }
    }
}
