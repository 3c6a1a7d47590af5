// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import Testing

/// An import of SyncModels does not change the meaning of conditions in an app's code.
///
/// The conditions have no type annotations, so each would not compile if an operator of this module were preferred.
@Suite struct OrdinarySwiftTests {
    private struct Person {
        var name: String, nickname: String?, age: Int?, isAdult = true
    }

    private static let people = [
        Person(name: "Ada", nickname: "Ada", age: 36), Person(name: "Grace", nickname: nil, age: 85),
    ]

    @Test func `conditions of ordinary values are Booleans`() {
        let (person, limit) = (Self.people[0], 40)
        let isSame = person.name == person.nickname && !person.name.isEmpty || person.age == nil
        let isYoung = !(person.age ?? 0 > limit) && person.isAdult && person.name < "B"
        let isOld = person.age.map { $0 >= limit } == true || !person.isAdult
        #expect(type(of: [isSame, isYoung, isOld]) == [Bool].self)
        #expect(isSame && isYoung && !isOld)
    }

    @Test func `closures keep their inferred types`() {
        let named = Self.people.filter { $0.name == $0.nickname && $0.isAdult }
        let flags = Self.people.map { !$0.isAdult || $0.age == 36 }
        let first = Self.people.first { $0.age == 85 && $0.name != "Ada" || $0.nickname == "x" }
        #expect(named.count == 1 && flags == [true, false] && first?.name == "Grace")
        #expect(type(of: flags) == [Bool].self)
    }

    @Test func `filters of tables stay filters`() {
        let (text, complete) = (SyncColumn("text", .text), SyncColumn("complete", .bool))
        let filter = text == "a" && !(complete == true) || complete != false
        #expect(type(of: filter) == Filter.self)
    }
}
