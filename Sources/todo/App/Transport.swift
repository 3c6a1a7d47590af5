// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

#if os(Linux)
    import AsyncHTTPTransport

    /// Creates the transport of this program. On Linux, URLSession uses a whole core while a request waits.
    func makeTransport(allowsInsecureHTTP: Bool) -> any HTTPTransport {
        AsyncHTTPTransport(allowsInsecureHTTP: allowsInsecureHTTP)
    }
#else
    /// Creates the transport of this program.
    func makeTransport(allowsInsecureHTTP: Bool) -> any HTTPTransport {
        URLSessionTransport(allowsInsecureHTTP: allowsInsecureHTTP)
    }
#endif
