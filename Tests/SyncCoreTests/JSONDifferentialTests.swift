// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

/// Compares the parser with Foundation's on random texts: both accept and read the same, except for known differences.
@Suite struct JSONDifferentialTests {
    @Test(arguments: 0..<8) func `both parsers read valid texts alike`(seed: UInt64) throws {
        var generator = JSONTextGenerator(seed: seed)
        for _ in 0..<400 {
            let text = Data(generator.value(depth: 0).utf8)
            let theirs = try JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
            let ours = try ItemValue(json: text)
            #expect(ours.isSame(as: theirs), "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test(arguments: 0..<8) func `Foundation reads every accepted damaged text alike`(seed: UInt64)
        throws
    {
        var generator = JSONTextGenerator(seed: 1000 + seed)
        var accepted = 0
        for _ in 0..<2000 {
            let text = generator.damaged(Array(generator.value(depth: 1).utf8))
            guard let ours = try? ItemValue(json: text) else { continue }
            accepted += 1
            let theirs = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            guard let theirs else {
                Issue.record("Foundation refuses \(String(decoding: text, as: UTF8.self))")
                continue
            }
            #expect(ours.isSame(as: theirs), "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(accepted > 100)
    }

    @Test(arguments: 0..<8) func `Foundation refuses every refused text, except for known lenient cases`(
        seed: UInt64
    ) throws {
        var generator = JSONTextGenerator(seed: 2000 + seed)
        for _ in 0..<2000 {
            let text = generator.damaged(Array(generator.value(depth: 1).utf8))
            guard let error = refusal(of: text),
                (try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)) != nil
            else { continue }
            // Foundation accepts a trailing comma, and RFC 8259 does not.
            let isAfterComma = text.indices.contains(error.offset) && "]}".utf8.contains(text[error.offset])
            #expect(
                isAfterComma || Self.lenientProblems.contains(error.problem),
                "\(error) \(String(decoding: text, as: UTF8.self))")
        }
    }

    /// The problems that Foundation accepts, as infinities or replacement characters.
    private static let lenientProblems = [
        "a number is out of the range of a double", "unpaired surrogate", "invalid UTF-8",
    ]

    private func refusal(of text: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try ItemValue(json: text)
            return nil
        } catch { return error }
    }
}

extension ItemValue {
    /// Returns whether Foundation's value is the same value.
    fileprivate func isSame(as other: Any) -> Bool {
        switch self {
        case .null: return other is NSNull
        case .bool(let bool): return (other as? NSNumber)?.boolValue == bool
        case .int(let int): return (other as? NSNumber)?.int64Value == int
        // Foundation parses a decimal number first, and may not return the nearest double.
        case .double(let double):
            return (other as? NSNumber).map { abs($0.doubleValue - double) <= 4 * double.ulp } ?? false
        case .text(let text): return (other as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
        case .array(let values):
            guard let others = other as? [Any], others.count == values.count else { return false }
            return zip(values, others).allSatisfy { $0.isSame(as: $1) }
        case .object(let fields):
            guard let others = other as? [String: Any] else { return false }
            return fields.allSatisfy { name, value in others[name].map(value.isSame) ?? false }
        case .date, .data: return false
        }
    }
}

/// Generates random JSON texts from a seed.
private struct JSONTextGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func number(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    private mutating func pick(_ texts: [String]) -> String { texts[number(below: texts.count)] }

    private mutating func space() -> String { pick(["", "", "", " ", "\n", "\t ", "\r\n"]) }

    mutating func value(depth: Int) -> String {
        switch number(below: depth > 3 ? 4 : 6) {
        case 0: return pick(["null", "true", "false"])
        case 1, 2: return numberText()
        case 3: return string()
        case 4:
            let values = (0..<number(below: 5)).map { _ in space() + value(depth: depth + 1) + space() }
            return "[" + (values.isEmpty ? space() : values.joined(separator: ",")) + "]"
        default:
            // Names are unique, because the parsers use different ones of two equal names.
            let fields = (0..<number(below: 5)).map { index in
                space() + string(ending: "\(index)") + space() + ":" + space() + value(depth: depth + 1)
                    + space()
            }
            return "{" + (fields.isEmpty ? space() : fields.joined(separator: ",")) + "}"
        }
    }

    private mutating func numberText() -> String {
        let whole = pick(["0", "1", "12", "9007199254740993", "9223372036854775807", "123456", "40"])
        let fraction = pick(["", "", "", ".5", ".25", ".0", ".125"])
        let exponent = fraction.isEmpty ? "" : pick(["", "", "e2", "E-3", "e+1"])
        let text = pick(["", "-"]) + whole + fraction + exponent
        return text == "-0" ? "0" : text
    }

    private mutating func string(ending: String = "") -> String {
        let parts = (0..<number(below: 6)).map { _ in
            pick([
                "a", "Zz", "0", " ", "é", "e\u{301}", "😀", "\u{7F}", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9",
                "\\uD83D\\uDE00", "\\u0000", "{", "]", ",", ":", "a longer text that needs its own buffer",
            ])
        }
        return "\"" + parts.joined() + ending + "\""
    }

    /// Returns the text with one or two bytes replaced, removed, duplicated or inserted.
    mutating func damaged(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0...number(below: 2) {
            let byte = Array("{}[]\",:\\u0159eE+-. ntf\n\u{1}".utf8)[number(below: 24)]
            let index = number(below: text.count + 1)
            switch number(below: 4) {
            case 0 where index < text.count: text[index] = byte
            case 1 where index < text.count: text.remove(at: index)
            case 2 where index < text.count: text.insert(text[index], at: index)
            default: text.insert(byte, at: index)
            }
        }
        return text
    }
}
