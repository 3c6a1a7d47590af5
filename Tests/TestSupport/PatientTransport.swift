// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

extension HTTPTransport where Self == URLSessionTransport {
    /// A transport whose requests do not time out while other tests keep a slow machine busy.
    package static var patient: URLSessionTransport {
        URLSessionTransport(idleTimeout: .seconds(1200), totalTimeout: .seconds(1200))
    }
}
