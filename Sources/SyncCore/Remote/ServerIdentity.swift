// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What makes two addresses the same service: scheme, host, port and path.
struct ServerIdentity: Hashable, Sendable {
    /// The address in one spelling: lower case, with its port, without slashes at the end.
    let text: String

    /// The identity of the service at that address. An address that cannot be used is its own identity.
    init(_ url: URL) {
        guard let origin = Origin(url) else {
            text = url.absoluteString
            return
        }
        var path = url.path(percentEncoded: true)
        while path.hasSuffix("/") { path.removeLast() }
        text = "\(origin.scheme)://\(origin.host):\(origin.port)\(path)"
    }
}
