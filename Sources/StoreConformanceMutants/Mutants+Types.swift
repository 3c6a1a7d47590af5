// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Lost types and precision of values.
    @MutantList static var types: [StoreMutant] {
        StoreMutant(
            .types, "bool-as-integer", "Booleans are stored as integers.", killedBy: "value.bool",
            message: "true"
        ) {
            $0.changingStoredValue { value in value.boolValue.map { .int($0 ? 1 : 0) } ?? value }
        }
        StoreMutant(
            .types, "integer-as-double", "Integers are converted to doubles.", killedBy: "value.integer",
            "query.integer.exact", message: "-9223372036854775807"
        ) {
            $0.changingStoredValue { value in
                value.intValue.map { .int(Int64(exactly: Double($0)) ?? .max) } ?? value
            }
        }
        StoreMutant(
            .types, "integer-32", "Integers are truncated to 32 bits.", killedBy: "value.integer",
            "query.integer.limits", message: "-9223372036854775808"
        ) {
            $0.changingStoredValue { value in
                value.intValue.map { .int(Int64(Int32(truncatingIfNeeded: $0))) } ?? value
            }
        }
        StoreMutant(
            .types, "double-as-text", "Doubles are rounded to fifteen digits.", killedBy: "value.double",
            "query.double", message: "0.30000000000000004"
        ) {
            $0.changingStoredValue { value in
                guard case .double(let double) = value else { return value }
                return .double(Double(String(format: "%.15g", double)) ?? double)
            }
        }
        StoreMutant(
            .types, "no-negative-zero", "Negative zero loses its sign.", killedBy: "value.double",
            message: "-0.0 as Double"
        ) {
            $0.changingStoredValue { value in value == .double(-0.0) ? .double(0) : value }
        }
        StoreMutant(
            .types, "no-denormals", "Subnormal doubles become zero.", killedBy: "value.double",
            "query.double.small", "corpus.values", "corpus.values.order", message: "5e-324 as Double"
        ) {
            $0.changingStoredValue { value in
                if case .double(let double) = value, double.isSubnormal { .double(0) } else { value }
            }
        }
        StoreMutant(
            .types, "whole-doubles", "Whole doubles are stored as integers.", killedBy: "value.double.whole",
            "value.double", message: "1.0 as Double"
        ) {
            $0.changingStoredValue { value in
                guard case .double(let double) = value, abs(double) < 1e6, double.rounded() == double else {
                    return value
                }
                return .int(Int64(double))
            }
        }
        StoreMutant(
            .types, "three-digits", "Dates always have three fraction digits.", killedBy: "value.date",
            message: "2014-05-30T18:30:00.000Z"
        ) {
            $0.changingStoredValue { value in
                value.dateValue.map { .date($0.showing(fractionDigits: 3)) } ?? value
            }
        }
        StoreMutant(
            .types, "seconds", "Dates lose their fraction digits.", killedBy: "value.date",
            "query.date.digits",
            message: "2014-05-30T18:30:00Z"
        ) {
            $0.changingStoredValue { value in
                value.dateValue.map { .date($0.showing(fractionDigits: 0)) } ?? value
            }
        }
        StoreMutant(
            .types, "text-data", "Binary data is converted to a string.", killedBy: "value.data",
            "query.data",
            "order.data", message: "data <"
        ) {
            $0.changingStoredValue { value in
                value.dataValue.map { .data(Data(String(decoding: $0, as: UTF8.self).utf8)) } ?? value
            }
        }
        StoreMutant(
            .types, "empty-data-null", "Empty data becomes null.", killedBy: "value.missing-null-empty",
            "value.data", message: "the four items"
        ) {
            $0.changingStoredValue { value in value == .data(Data()) ? .null : value }
        }
        StoreMutant(
            .types, "empty-text-null", "The empty string becomes null.", killedBy: "value.missing-null-empty",
            "query.text.empty", message: "the four items"
        ) {
            $0.changingStoredValue { value in value == "" ? .null : value }
        }
        StoreMutant(
            .types, "text-nfc", "Strings are normalized to NFC.", killedBy: "value.text",
            "query.text.bytes", "query.part.bytes", message: "\"e\\u{301}\""
        ) {
            $0.changingStoredValue { value in
                value.textValue.map { .text($0.precomposedStringWithCanonicalMapping) } ?? value
            }
        }
        StoreMutant(
            .types, "line-ends", "Line breaks are normalized.", killedBy: "value.text",
            message: "\"\\u{d}\\u{a}\""
        ) {
            $0.changingStoredValue { value in
                value.textValue.map { .text($0.replacingOccurrences(of: "\r\n", with: "\n")) } ?? value
            }
        }
        StoreMutant(
            .types, "no-mark", "A byte order mark at the beginning is dropped.", killedBy: "value.text",
            message: "\"\\u{feff}x\""
        ) {
            $0.changingStoredValue { value in
                value.textValue.map { text in
                    .text(
                        text.unicodeScalars.first == "\u{FEFF}"
                            ? String(text.unicodeScalars.dropFirst()) : text)
                } ?? value
            }
        }
        StoreMutant(
            .types, "json-doubles", "In JSON, whole doubles become integers.", killedBy: "value.json.numbers",
            "value.json", message: "numbers"
        ) {
            $0.changingStoredItem { item in
                var changed = item
                changed.fields["extra"] = item.fields["extra"]?.mapped { value in
                    if case .double(let double) = value, let int = Int64(exactly: double) {
                        .int(int)
                    } else {
                        value
                    }
                }
                return changed
            }
        }
        StoreMutant(
            .types, "json-nulls", "Nulls in JSON objects are dropped.", killedBy: "value.json",
            message: "null"
        ) {
            $0.changingStoredValue { value in
                if case .object(let fields) = value {
                    .object(fields.filter { !$0.value.isNull })
                } else {
                    value
                }
            }
        }
        StoreMutant(
            .types, "json-empty-objects", "Empty JSON objects become empty lists.", killedBy: "value.json",
            message: "[:]"
        ) {
            $0.changingStoredValue { value in value == .object([:]) ? .array([]) : value }
        }
        StoreMutant(
            .types, "json-shallow", "JSON below twenty levels becomes null.", killedBy: "value.json.deep",
            message: "50 levels"
        ) {
            $0.changingStoredItem { item in
                var changed = item
                changed.fields["extra"] = item.fields["extra"].map { $0.cut(depth: 20) }
                return changed
            }
        }
        StoreMutant(
            .types, "one-type-a-row", "An item with a count loses its ratio.",
            killedBy: "value.every-column", "query.columns", message: "the item 'a'"
        ) {
            $0.changingStoredItem { item in
                Item(
                    id: item.id,
                    fields: item.fields.filter { $0.key != "ratio" || item.fields["count"] == nil },
                    system: item.system)
            }
        }
    }
}

extension ItemValue {
    /// Returns the value with null for everything below the level.
    func cut(depth: Int) -> ItemValue {
        guard depth > 0 else { return .null }
        return switch self {
        case .array(let values): .array(values.map { $0.cut(depth: depth - 1) })
        case .object(let fields): .object(fields.mapValues { $0.cut(depth: depth - 1) })
        default: self
        }
    }
}
