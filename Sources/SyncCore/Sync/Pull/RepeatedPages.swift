// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Detects a server that returns the same pages again and again.
///
/// Two pages are kept, the last one and one that is replaced after 1, 2, 4, 8… pages: cycles of any length are found
/// (Brent's algorithm) with memory for two pages.
struct RepeatedPages: Sendable {
    /// One state of one row.
    private struct RowFingerprint: Hashable {
        let id: UTF8Text
        let version: UTF8Text?
        let updatedAt: UTF8Text?
        /// The content of a row without a readable id, such as a number.
        let content: [String: ItemValue]?

        init(_ row: PulledRow) {
            id = UTF8Text(row.item.id)
            version = row.item.system.version.map(UTF8Text.init)
            updatedAt = row.updatedAtText.map(UTF8Text.init)
            content = row.item.id.isEmpty ? row.item.fields.merging(row.item.system.undeclared) { $1 } : nil
        }
    }

    private var last: Set<RowFingerprint> = []
    private var anchor: Set<RowFingerprint> = []
    private var count = 0

    /// Records the page, and returns whether one of the kept pages has all of its rows in the same state.
    mutating func hasSeenAll(of rows: [PulledRow]) -> Bool {
        let page = Set(rows.map(RowFingerprint.init))
        let isRepeated = page.isSubset(of: last) || page.isSubset(of: anchor)
        last = page
        count += 1
        if count & (count - 1) == 0 { anchor = page }
        return isRepeated
    }
}
