// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

#if os(Linux)
    import AsyncHTTPTransport

    /// Makes the transport of this program. URLSession on Linux uses a whole core while a request waits.
    func makeTransport(allowsInsecureHTTP: Bool) -> any HTTPTransport {
        AsyncHTTPTransport(allowsInsecureHTTP: allowsInsecureHTTP)
    }
#else
    /// Makes the transport of this program.
    func makeTransport(allowsInsecureHTTP: Bool) -> any HTTPTransport {
        URLSessionTransport(allowsInsecureHTTP: allowsInsecureHTTP)
    }
#endif
