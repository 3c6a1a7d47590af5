// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SyncCore

/// The forms in which a server may return a sent value, and the values that only another client can have written.
struct SentValueComparisonTests {
    private static let exact: Int64 = (1 << 53) + 1

    private static func date(_ text: String) -> ItemValue {
        Timestamp(text).map(ItemValue.date) ?? .text("not a date: \(text)")
    }

    private static let equivalent: [(sent: ItemValue, received: ItemValue)] = [
        (nil, nil), (true, true), ("é", "é"), (.data(Data([1])), .data(Data([1]))),
        (.int(exact), .int(exact)), (.int(exact), .int(1 << 53)), (.int(exact), .double(0x1p53)),
        (.int(.max), .double(9_223_372_036_854_775_808)), (.double(0x1p60), .int(1_152_921_504_606_847_000)),
        (1.0, 1), (1, 1.0), (-0.0, 0), (-0.0, 0.0), (0.0, -0.0), (0.1, 0.1),
        (date("2024-01-01T00:00:00.1234567Z"), date("2024-01-01T00:00:00.123Z")),
        (date("2024-01-01T00:00:00.1236Z"), date("2024-01-01T00:00:00.123Z")),
        (date("2024-01-01T00:00:00.1236Z"), date("2024-01-01T00:00:00.124Z")),
        (date("2024-12-31T23:59:59.9996Z"), date("2025-01-01T00:00:00.000Z")),
        (date("2024-12-31T23:59:59.5Z"), date("2024-12-31T23:59:59Z")),
        (date("2024-12-31T23:59:59.5Z"), date("2025-01-01T00:00:00Z")),
        (date("2024-01-01T00:00:00Z"), date("2024-01-01T00:00:00.0000000Z")),
        (["a": nil], [:]), ([:], ["a": nil]), (["a": nil, "b": 1.0], ["b": 1]),
        (["a": ["b": ["c": nil, "d": [1.0, -0.0]]]], ["a": ["b": ["d": [1, 0]]]]),
        ([nil, 1.0], [nil, 1]),
    ]

    @Test(arguments: equivalent.indices)
    func `a sent value matches each form in which a server may store it`(_ index: Int) {
        let (sent, received) = Self.equivalent[index]
        #expect(sent.isShown(as: received), "\(sent) as \(received)")
    }

    private static let different: [(sent: ItemValue, received: ItemValue)] = [
        (nil, 0), (0, nil), (nil, false), ("", nil), (true, 1), (1, true), ("1", 1), (1, "1"),
        ("é", "e\u{301}"), ("a", "A"), ("a", "a "), (.data(Data([1])), .data(Data([1, 0]))),
        (1, 2), (.int(exact), .int((1 << 53) + 2)), (.int(.max), .int(.min)), (0.1, 0.2), (1, 1.5),
        (0.0, .double(.leastNonzeroMagnitude)),
        (date("2024-01-01T00:00:00.123Z"), date("2024-01-01T00:00:00.1234567Z")),
        (date("2024-01-01T00:00:00.1234Z"), date("2024-01-01T00:00:00.124Z")),
        (date("2024-01-01T00:00:00.1236Z"), date("2024-01-01T00:00:00.125Z")),
        (date("2024-01-01T00:00:00.1236Z"), date("2024-01-01T00:00:00.122Z")),
        (date("2024-01-01T00:00:00Z"), date("2024-01-01T00:00:01Z")),
        (["a": 1], [:]), ([:], ["a": 1]), (["a": nil], ["a": 1]), (["a": 1], ["A": 1]),
        (["é": 1], ["e\u{301}": 1]), (["é": 1], [:]), ([:], ["é": 1]),
        ([1], [1, nil]), ([1, 2], [2, 1]), ([nil], []), ([], [:]), (["a": [1]], ["a": [2]]),
        ("2024-01-01T00:00:00.1234567Z", "2024-01-01T00:00:00.123Z"),
    ]

    @Test(arguments: different.indices)
    func `any other value does not match the sent value`(_ index: Int) {
        let (sent, received) = Self.different[index]
        #expect(!sent.isShown(as: received), "\(sent) as \(received)")
    }

    @Test func `every value matches itself`() {
        for (sent, received) in Self.equivalent + Self.different {
            #expect(sent.isShown(as: sent) && received.isShown(as: received))
        }
    }

    @Test func `a row with all fields of an attempt proves the attempt, and null equals a missing field`() {
        let sent = TableOperation.SentSnapshot(
            kind: .insert, fields: ["a": 1.0, "b": nil, "c": ["x": nil]], version: nil)
        #expect(sent.isApplied(in: Item(id: "i", fields: ["a": 1, "c": [:], "d": "computed"])))
        #expect(!sent.isApplied(in: Item(id: "i", fields: ["a": 1, "b": 2, "c": [:]])))
        #expect(!sent.isApplied(in: Item(id: "i", fields: ["a": 1])))
        let tombstone = Item(id: "i", fields: ["a": 1, "c": [:]], system: SystemProperties(deleted: true))
        #expect(!sent.isApplied(in: tombstone))
    }

    @Test func `objects are equal only when their names have the same bytes`() {
        #expect(ItemValue.object(["é": 1]) != ["e\u{301}": 1])
        #expect(ItemValue.object(["é": 1, "a": nil]) == ["a": nil, "é": 1])
        #expect(ItemValue.object(["a": nil]) != [:])
    }
}
