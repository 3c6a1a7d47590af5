// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The texts of lists whose compiled statements a connection keeps: the first ones. Filters have any number of forms, and a
/// statement for each would use memory without bounds.
final class KeptStatements: Sendable {
    private let texts = Mutex<Set<String>>([])
    private static let maxCount = 100

    /// Returns whether the statement of this text is kept.
    func keeps(_ text: String) -> Bool {
        texts.withLock { texts in
            if texts.contains(text) { return true }
            guard texts.count < Self.maxCount else { return false }
            return texts.insert(text).inserted
        }
    }
}
