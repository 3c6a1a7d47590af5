// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A snapshot of a store that was opened by its file alone, without the app's table definitions.
package struct StoreContents {
    /// The version of the store's format.
    package let formatVersion: Int
    /// The tables as the app last declared them, without their local-only columns.
    package let catalog: TableCatalog
    /// The snapshot, valid until the body that received it returns.
    package let snapshot: any StoreSnapshot

    package init(formatVersion: Int, catalog: TableCatalog, snapshot: any StoreSnapshot) {
        self.formatVersion = formatVersion
        self.catalog = catalog
        self.snapshot = snapshot
    }
}

extension StoreError {
    /// Returns the error for a store of an older format, which only an app can update.
    package static func olderFormat(_ version: some BinaryInteger) -> StoreError {
        StoreError(
            .unsupported,
            "The store has format \(version), an older one. Open it once with an app that uses this version of swift-sync-context."
        )
    }

    /// Returns the error for a file that has changed during each attempt to read it.
    package static func changesWhileRead(_ path: String) -> StoreError {
        StoreError(.unavailable, "'\(path)' changes while it is read. Try again.")
    }
}
