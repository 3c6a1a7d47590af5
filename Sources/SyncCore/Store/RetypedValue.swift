// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

// An app can change the type of a column in a table that it has created: the file keeps the values, or the app converts them.
// The row on which a pending update was made has a value of the former type. Only what the user has edited may differ from it
// afterwards. A value that has no form in the new type counts as edited: it is sent, because it may be an edit.

extension ItemValue {
    /// Returns this value of a row as one of the column's present type; `nil` if there is none.
    ///
    /// - Parameter item: the item's value of the column at present. It is returned if it is this value in the other type.
    func retyped(to type: ColumnType, asIn item: ItemValue?) -> ItemValue? {
        let value = retyped(to: type)
        guard let item, !item.isNull else { return value }
        return value == item || isWritten(as: item) ? item : value
    }

    private func retyped(to type: ColumnType) -> ItemValue? {
        switch (type, self) {
        case (.integer, .bool(let bool)): .int(bool ? 1 : 0)
        case (.double, .bool(let bool)): .double(bool ? 1 : 0)
        case (.bool, .int(0)): .bool(false)
        case (.bool, .int(1)): .bool(true)
        case (.integer, .text(let text)):
            (Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))).map(ItemValue.int)
        case (.double, .text(let text)): Double(text).flatMap { $0.isFinite ? .double($0) : .none }
        case (.text, .int(let int)): .text(String(int))
        case (.text, .double(let double)): .text(double.description)
        case (.text, .bool(let bool)): .text(bool ? "1" : "0")
        case (.text, .date(let date)): .text(date.description)
        case (.text, .data(let data)): .text(data.base64EncodedString())
        default: .none
        }
    }

    /// Whether a text shows this value, in any of its forms.
    private func isWritten(as item: ItemValue) -> Bool {
        guard case .text(let text) = item else { return false }
        return switch self {
        case .int(let int): Int64(exactly: Double(text) ?? .nan) == int && int.magnitude <= 1 << 53
        case .double(let double): Double(text) == double
        case .date(let date): Timestamp(serverText: text)?.isSameInstant(as: date) == true
        default: (try? ItemValue(json: Data(text.utf8))) == self
        }
    }
}
