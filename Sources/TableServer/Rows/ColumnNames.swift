// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The spelling of each column name. Names that differ only in case are one column, with the first spelling.
package struct ColumnNames: Sendable {
    private var spellings: [String: String] = [:]

    package init() {}

    init(_ names: [String]) { for name in names { add(name) } }

    /// Returns the spelling under which fields with this name are stored.
    func spelling(of name: String) -> String {
        spellings[name.asciiLowercased] ?? name
    }

    func contains(_ name: String) -> Bool { spellings[name.asciiLowercased] != nil }

    package var count: Int { spellings.count }

    /// Adds a column. Returns whether it is new.
    @discardableResult package mutating func add(_ name: String) -> Bool {
        let folded = name.asciiLowercased
        guard spellings[folded] == nil else { return false }
        spellings[folded] = name
        return true
    }
}

extension StringProtocol {
    /// Compares names without regard to the case of A to Z.
    func hasSameName(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension String {
    /// The string with A to Z in lower case. Names of tables and columns contain no other capital letters.
    package var asciiLowercased: String {
        guard utf8.contains(where: { $0 != $0.asciiLowercased }) else { return self }
        return String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }
    var isNameStart: Bool { isASCIILetter || self == UInt8(ascii: "_") }
    var isNamePart: Bool { isNameStart || isASCIIDigit }
}
