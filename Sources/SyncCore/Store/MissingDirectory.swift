// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension StoreError {
    /// Returns the error of an opening in a directory that does not exist.
    @_spi(StoreAuthor) public static func missingDirectory(_ path: String) -> StoreError {
        // `URL.path()` encodes a space, as in "Application Support".
        let decoded = path.removingPercentEncoding ?? path
        let isEncoded = decoded != path && FileManager.default.fileExists(atPath: decoded)
        let advice = isEncoded ? "pass the URL's path(percentEncoded: false)" : "create it first"
        return StoreError(.cannotOpen, "The directory '\(path)' does not exist; \(advice).")
    }
}
