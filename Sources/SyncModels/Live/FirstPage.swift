// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How the first page of a query is read for a user interface.
public enum FirstPage: Sendable, Hashable {
    /// In the background: the list is loading until the page is there.
    case asynchronous
    /// At once, on the main thread, so that a view has its rows in its first frame. For queries that an index answers with
    /// few rows: a slow query, or a store that is busy, delays the user interface.
    ///
    /// A store that cannot read while it writes, as ``SyncCore/StoreCapabilities/hasConcurrentReaders`` says, is read in
    /// the background, as is a query that cannot be read.
    case immediate
}
