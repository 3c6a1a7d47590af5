// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Limits the number of open change feeds: of all clients, and of each user.
final class FeedLimit: Sendable {
    private struct State {
        var lastNumber = 0
        /// The user of each open feed.
        var users: [Int: UTF8Text?] = [:]
    }

    private let state = Mutex(State())
    /// Other requests need connections too.
    private let maxConnections = DescriptorLimit.connections / 2

    /// Returns the permit of a feed.
    ///
    /// Clients without a token, whose number is unknown, must not take all feeds from signed-in users.
    ///
    /// - Throws: status 503 with `Retry-After` when too many feeds are open.
    func permit(
        for user: String?, _ settings: TableServer.Configuration
    ) throws(RequestError) -> FeedPermit {
        let user = user.map { UTF8Text($0) }
        let maxFeeds = min(settings.maxFeeds, maxConnections)
        let maxAnonymous = settings.authentication == nil ? maxFeeds : max(maxFeeds / 2, 1)
        let maxOfUser = user == nil ? maxAnonymous : settings.maxFeedsPerUser
        let number: Int? = state.withLock { state in
            let ofUser = state.users.values.count { $0 == user }
            guard state.users.count < maxFeeds, ofUser < maxOfUser else { return nil }
            state.lastNumber += 1
            state.users.updateValue(user, forKey: state.lastNumber)
            return state.lastNumber
        }
        guard let number else {
            throw RequestError(
                status: 503,
                message: "Too many change feeds are open: the server permits \(maxFeeds), and "
                    + "\(settings.maxFeedsPerUser) of one user and \(maxAnonymous) without a token. Send the "
                    + "request again later.")
        }
        return FeedPermit(self, number)
    }

    fileprivate func release(_ number: Int) {
        state.withLock { _ = $0.users.removeValue(forKey: number) }
    }
}

/// Counts as an open feed until it is released. A response that is never sent releases it when it is deallocated.
final class FeedPermit: Sendable {
    private let limit: FeedLimit
    private let number: Int

    fileprivate init(_ limit: FeedLimit, _ number: Int) {
        (self.limit, self.number) = (limit, number)
    }

    deinit { release() }

    /// Ends the permit. Calling it again has no effect.
    func release() { limit.release(number) }
}
