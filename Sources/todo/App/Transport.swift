// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

#if os(Linux)
    import AsyncHTTPTransport

    /// Makes the transport of this program. URLSession on Linux uses a whole core while a request waits.
    func makeTransport() -> any HTTPTransport { AsyncHTTPTransport() }
#else
    /// Makes the transport of this program.
    func makeTransport() -> any HTTPTransport { URLSessionTransport() }
#endif
