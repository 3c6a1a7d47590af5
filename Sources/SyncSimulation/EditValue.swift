// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The values of edits: each edit has a number, which is written in the type of its column.
enum EditValue {
    /// Returns the value with this number.
    static func item(_ number: Int64, _ type: ColumnType) -> ItemValue {
        switch type {
        case .bool: .bool(number % 2 == 0)
        case .integer: .int(number)
        case .double: .double(Double(number) + 0.5)
        case .text: .text(String(number))
        case .date: Timestamp(seconds: number).map(ItemValue.date) ?? .null
        case .data: .data(Data(String(number).utf8))
        case .json: .object(["number": .int(number)])
        }
    }

    /// Returns the server's value with this number.
    static func model(_ number: Int64, _ type: ColumnType) -> ModelJSON {
        switch type {
        case .bool: .bool(number % 2 == 0)
        case .integer: .int(number)
        case .double: .double(Double(number) + 0.5)
        case .text: .text(String(number))
        case .date: .text(ModelTime(nanoseconds: number * 1_000_000_000).text(digits: 3))
        case .data: .text(Data(String(number).utf8).base64EncodedString())
        case .json: .object(["number": .int(number)])
        }
    }

    /// Returns the number of a value; `nil` for null and values that are no edits.
    static func number(_ value: ItemValue?) -> Int64? {
        switch value {
        case .int(let number): number
        case .double(let number): Int64(exactly: number.rounded(.down))
        case .text(let text): Int64(text)
        case .date(let time): time.seconds
        case .data(let data): Int64(String(decoding: data, as: UTF8.self))
        case .object(let fields): number(fields["number"])
        default: nil
        }
    }

    /// Returns a value that a column of this type cannot hold; `nil` for types that hold all.
    static func unreadable(_ type: ColumnType) -> ModelJSON? {
        switch type {
        case .integer: .double(2.5)
        case .double, .date: .text("no number")
        default: nil
        }
    }

    /// Whether a column of this type cannot hold the server's value.
    static func isUnreadable(_ value: ModelJSON?, _ type: ColumnType) -> Bool {
        guard let value else { return false }
        return value == unreadable(type)
    }

    static func number(_ value: ModelJSON?, _ type: ColumnType) -> Int64? {
        switch (value, type) {
        case (.int(let number), _): number
        case (.double, .integer): nil
        case (.double(let number), _): Int64(exactly: number.rounded(.down))
        case (.text(let text), .date): ModelTime(text).map { $0.nanoseconds / 1_000_000_000 }
        case (.text(let text), .data):
            Data(base64Encoded: text).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
        case (.text(let text), _): Int64(text)
        case (.object(let fields), _): number(fields["number"], .integer)
        default: nil
        }
    }
}
