// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The identity of a service: scheme, host, port and path of its URL.
struct ServerIdentity: Hashable, Sendable {
    /// The normalized URL: lower case, with the port, without trailing slashes.
    let text: String

    /// Makes the identity of the service at that URL. The identity of an invalid URL is its text.
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
