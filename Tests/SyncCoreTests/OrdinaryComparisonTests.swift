// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

/// An import of SyncCore does not change the meaning of comparisons in an app's code.
///
/// This file imports the module as apps do. It cannot test that comparisons of a string with an integer or with a
/// filter do not compile.
struct OrdinaryComparisonTests {
    private struct Person {
        var name: String
        var nickname: String?
        var age: Int?
    }

    private static let people = [
        Person(name: "Ada", nickname: "Ada", age: 36), Person(name: "Grace", nickname: nil, age: 85),
    ]

    @Test func `strings and optional strings compare to a Bool without a type annotation`() {
        let (name, optionalName): (String, String?) = ("Ada", "Ada")
        let isSame = name == optionalName
        let isSameReversed = optionalName == name
        let isDifferent = name != optionalName
        let isMissing = optionalName == nil
        let isLess = name < "B"
        let results = [isSame, isSameReversed, !isDifferent, !isMissing, isLess]
        #expect(type(of: results) == [Bool].self)
        #expect(results.allSatisfy { $0 })
    }

    @Test func `closures keep their inferred types`() {
        let named = Self.people.filter { $0.name == $0.nickname }
        let flags = Self.people.map { person in
            let lowercased = person.name.lowercased()
            return lowercased == person.nickname?.lowercased()
        }
        let isAda = { (name: String) in name == "Ada" }
        let first = Self.people.first { $0.age == 85 && $0.name != "Ada" || $0.nickname == "x" }
        let sorted = Self.people.sorted { $0.name > $1.name }
        #expect(type(of: flags) == [Bool].self && type(of: isAda("")) == Bool.self)
        #expect(named.count == 1 && flags == [true, false] && first?.name == "Grace")
        #expect(sorted.map(\.name) == ["Grace", "Ada"])
    }

    @Test func `conditions may mix numbers, dates, nil and literals`() {
        let (count, limit): (Int, Int?) = (3, nil)
        let date = Date(timeIntervalSince1970: 0)
        let isWithin = limit == nil || count < limit ?? 5
        let isFirst = date <= Date(timeIntervalSince1970: 1) && count >= 3 && 2.5 < Double(count)
        let isData = Data([1]) == Data([1])
        #expect(isWithin && isFirst && isData)
        #expect(type(of: isWithin) == Bool.self && type(of: isFirst) == Bool.self)
        guard "a" == "a", count == 3, limit == nil else {
            Issue.record("The conditions of a guard have a different meaning.")
            return
        }
    }

    @Test func `equality of columns, expressions and values is a Bool unless a filter is expected`() {
        let (text, complete) = (SyncColumn("text", .text), SyncColumn("complete", .bool))
        let isSame = text == complete
        let areExpressionsSame = FilterExpression.column("a") == FilterExpression.column("a")
        let areValuesSame = ItemValue.text("a") == ItemValue.int(1)
        #expect(type(of: isSame) == Bool.self && type(of: areExpressionsSame) == Bool.self)
        #expect(!isSame && areExpressionsSame && !areValuesSame)
        #expect([text, complete].contains(text))
    }
}
