// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Field states that column values cannot represent: explicit nulls, because a missing field is `NULL` too, and
/// negative zeros, because SQLite stores `-0.0` as `0.0`. Rows without either store `NULL`.
///
/// The text is a comma-separated list of column names; a minus sign marks a negative zero: `dueAt,-price`.
struct FieldFlags {
    private(set) var text = ""

    init() {}

    init(_ text: String) {
        self.text = text
    }

    mutating func addNull(_ column: String) {
        if !text.isEmpty { text += "," }
        text += column
    }

    mutating func addNegativeZero(_ column: String) { addNull("-" + column) }

    /// Adds the flags of these columns from others.
    mutating func add(_ columns: Set<String>, of others: FieldFlags) {
        var added: [String] = []
        others.forEach { null in
            if columns.contains(String(null)) { added.append(String(null)) }
        } negativeZero: { name in
            if columns.contains(String(name)) { added.append("-" + name) }
        }
        for flag in added { addNull(flag) }
    }

    /// Calls `null` for each explicit null and `negativeZero` for each negative zero.
    func forEach(null: (Substring) -> Void, negativeZero: (Substring) -> Void) {
        for flag in text.split(separator: ",") {
            if flag.utf8.first == UInt8(ascii: "-") { negativeZero(flag.dropFirst()) } else { null(flag) }
        }
    }
}
