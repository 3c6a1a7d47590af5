// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a list of the server says about the page behind it.
enum NextPage: Sendable, Hashable {
    /// Nothing that can be used.
    case unknown
    /// There is none: the dialect's lists have a link to the next page, and this list has none.
    case end
    /// It begins at this offset from the first row of the query.
    case skipping(Int)

    /// Reads the `$skip` of a link to the next page, which is an address or only its query. The link itself is never followed.
    init(link: String) {
        let query = link.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
        let parameters = URLComponents(string: "?\(query)")?.queryItems ?? []
        let skip = parameters.first { $0.name == "$skip" }?.value.flatMap(Int32.init)
        self = skip.map { .skipping(Int($0)) } ?? .unknown
    }
}
