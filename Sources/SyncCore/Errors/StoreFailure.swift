// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncError {
    /// Returns the error of a call whose store failed. The message ends with the store's own sentence; errors of other
    /// types could contain fields of items.
    static func storeFailure(_ error: any Error) -> SyncError {
        SyncError(
            .storeFailure, text("The local store failed", error), cause: error, mayRetry: isTemporary(error))
    }

    /// Returns the error of a push that ended because the store failed.
    static func pushAbortedStore(_ what: String, _ error: (any Error)?) -> SyncError {
        SyncError(.pushAbortedStore, text(what, error), cause: error, mayRetry: isTemporary(error))
    }

    /// Whether a constraint of the app's own table or a limit of the store has refused an item, or a value that the app has
    /// stored there cannot be read. The store can read and store other items.
    package var isOfItem: Bool { code == .storeFailure && (cause as? StoreError)?.concernsItem ?? false }

    /// Whether the store or its context has failed for all items.
    var isOfStore: Bool { [.storeFailure, .contextInvalid].contains(code) && !isOfItem }

    private static func isTemporary(_ error: (any Error)?) -> Bool {
        (error as? StoreError)?.code == .unavailable
    }

    private static func text(_ what: String, _ error: (any Error)?) -> String {
        (error as? StoreError).map { "\(what): \($0.message)" } ?? "\(what)."
    }
}

extension StoreError {
    /// Whether the table refuses one item; another item may be stored.
    var concernsItem: Bool { [.schemaMismatch, .unsupported, .corrupt].contains(code) }
}
