// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Values whose type or precision is lost.
    @MutantList static var types: [StoreMutant] {
        StoreMutant(
            .types, "bool-as-integer", "Booleans come back as numbers.", killedBy: "value.bool",
            saying: "true"
        ) {
            $0.storingValues { value in value.boolValue.map { .int($0 ? 1 : 0) } ?? value }
        }
        StoreMutant(
            .types, "integer-as-double", "Integers pass through a double.", killedBy: "value.integer",
            "query.integer.exact", saying: "-9223372036854775807"
        ) {
            $0.storingValues { value in
                value.intValue.map { .int(Int64(exactly: Double($0)) ?? .max) } ?? value
            }
        }
        StoreMutant(
            .types, "integer-32", "Integers are cut to 32 bits.", killedBy: "value.integer",
            "query.integer.limits", saying: "-9223372036854775808"
        ) {
            $0.storingValues { value in
                value.intValue.map { .int(Int64(Int32(truncatingIfNeeded: $0))) } ?? value
            }
        }
        StoreMutant(
            .types, "double-as-text", "Doubles keep fifteen digits.", killedBy: "value.double",
            "query.double", saying: "0.30000000000000004"
        ) {
            $0.storingValues { value in
                guard case .double(let double) = value else { return value }
                return .double(Double(String(format: "%.15g", double)) ?? double)
            }
        }
        StoreMutant(
            .types, "no-negative-zero", "Negative zero loses its sign.", killedBy: "value.double",
            saying: "-0.0 as Double"
        ) {
            $0.storingValues { value in value == .double(-0.0) ? .double(0) : value }
        }
        StoreMutant(
            .types, "no-denormals", "The least doubles become zero.", killedBy: "value.double",
            "query.double.small", "corpus.values", "corpus.values.order", saying: "5e-324 as Double"
        ) {
            $0.storingValues { value in
                if case .double(let double) = value, double.isSubnormal { .double(0) } else { value }
            }
        }
        StoreMutant(
            .types, "whole-doubles", "Whole doubles come back as integers.", killedBy: "value.double.whole",
            "value.double", saying: "1.0 as Double"
        ) {
            $0.storingValues { value in
                guard case .double(let double) = value, abs(double) < 1e6, double.rounded() == double else {
                    return value
                }
                return .int(Int64(double))
            }
        }
        StoreMutant(
            .types, "three-digits", "Dates show three fraction digits.", killedBy: "value.date",
            saying: "2014-05-30T18:30:00.000Z"
        ) {
            $0.storingValues { value in value.dateValue.map { .date($0.showing(fractionDigits: 3)) } ?? value
            }
        }
        StoreMutant(
            .types, "seconds", "Dates lose their fractions.", killedBy: "value.date", "query.date.digits",
            saying: "2014-05-30T18:30:00Z"
        ) {
            $0.storingValues { value in value.dateValue.map { .date($0.showing(fractionDigits: 0)) } ?? value
            }
        }
        StoreMutant(
            .types, "text-data", "Binary data passes through text.", killedBy: "value.data", "query.data",
            "order.data", saying: "data <"
        ) {
            $0.storingValues { value in
                value.dataValue.map { .data(Data(String(decoding: $0, as: UTF8.self).utf8)) } ?? value
            }
        }
        StoreMutant(
            .types, "empty-data-null", "Empty data becomes null.", killedBy: "value.missing-null-empty",
            "value.data", saying: "the four items"
        ) {
            $0.storingValues { value in value == .data(Data()) ? .null : value }
        }
        StoreMutant(
            .types, "empty-text-null", "Empty text becomes null.", killedBy: "value.missing-null-empty",
            "query.text.empty", saying: "the four items"
        ) {
            $0.storingValues { value in value == "" ? .null : value }
        }
        StoreMutant(
            .types, "text-nfc", "Text is brought into a normal form.", killedBy: "value.text",
            "query.text.bytes", "query.part.bytes", saying: "\"e\\u{301}\""
        ) {
            $0.storingValues { value in
                value.textValue.map { .text($0.precomposedStringWithCanonicalMapping) } ?? value
            }
        }
        StoreMutant(
            .types, "line-ends", "Line ends are made alike.", killedBy: "value.text",
            saying: "\"\\u{d}\\u{a}\""
        ) {
            $0.storingValues { value in
                value.textValue.map { .text($0.replacingOccurrences(of: "\r\n", with: "\n")) } ?? value
            }
        }
        StoreMutant(
            .types, "no-mark", "A byte order mark at the beginning is dropped.", killedBy: "value.text",
            saying: "\"\\u{feff}x\""
        ) {
            $0.storingValues { value in
                value.textValue.map { text in
                    .text(
                        text.unicodeScalars.first == "\u{FEFF}"
                            ? String(text.unicodeScalars.dropFirst()) : text)
                } ?? value
            }
        }
        StoreMutant(
            .types, "json-doubles", "In JSON, whole doubles become integers.", killedBy: "value.json.numbers",
            "value.json", saying: "numbers"
        ) {
            $0.storing { item in
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
            .types, "json-nulls", "Nulls in JSON objects are dropped.", killedBy: "value.json", saying: "null"
        ) {
            $0.storingValues { value in
                if case .object(let fields) = value {
                    .object(fields.filter { !$0.value.isNull })
                } else {
                    value
                }
            }
        }
        StoreMutant(
            .types, "json-shallow", "JSON deeper than twenty levels is dropped.", killedBy: "value.json.deep",
            saying: "50 levels"
        ) {
            $0.storing { item in
                var changed = item
                changed.fields["extra"] = item.fields["extra"].map { $0.cut(depth: 20) }
                return changed
            }
        }
        StoreMutant(
            .types, "one-type-a-row", "An item keeps one field of each type of value.",
            killedBy: "value.every-column", "query.columns", saying: "the item 'a'"
        ) {
            $0.storing { item in
                Item(
                    id: item.id,
                    fields: item.fields.filter { $0.key != "ratio" || item.fields["count"] == nil },
                    system: item.system)
            }
        }
    }
}

extension ItemValue {
    fileprivate func cut(depth: Int) -> ItemValue {
        guard depth > 0 else { return .null }
        return switch self {
        case .array(let values): .array(values.map { $0.cut(depth: depth - 1) })
        case .object(let fields): .object(fields.mapValues { $0.cut(depth: depth - 1) })
        default: self
        }
    }
}
