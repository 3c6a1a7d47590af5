// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What must be equal for two URLs to be of one server: scheme, host and port.
package struct Origin: Hashable, Sendable {
    package let scheme: String
    package let host: String
    package let port: Int

    /// The origin of an http or https URL; `nil` for any other URL, for one with a user name in it, and for a port that
    /// does not exist, which ends the process in network libraries.
    package init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty,
            url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil
        else { return nil }
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        guard UInt16(exactly: port) != nil else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Whether the host is this machine. Names other than `localhost` are not looked up.
    package var isLoopback: Bool {
        // The system reads a number with a leading zero as octal.
        let bytes = host.split(separator: ".", omittingEmptySubsequences: false).map { part in
            UInt8(part).flatMap { String($0) == part ? $0 : nil }
        }
        let isLoopbackAddress = bytes.count == 4 && bytes[0] == 127 && bytes.allSatisfy { $0 != nil }
        return isLoopbackAddress || ["localhost", "::1", "[::1]"].contains(host)
    }
}
