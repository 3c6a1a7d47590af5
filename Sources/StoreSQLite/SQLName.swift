// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A name of the schema as SQLite compares names: byte by byte, without the case of ASCII letters.
///
/// Strings would not distinguish canonically equivalent names: "Kind" with the Kelvin sign is another column than "Kind".
struct SQLName: Hashable {
    private let bytes: [UInt8]

    init(_ name: some StringProtocol) {
        bytes = name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
