// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A JSON object of a server: the names of its members in their order, without duplicates, and the values.
///
/// Consecutive objects of a list with the same names share them, so that a reader looks the names up once, not for each
/// row.
package struct WireObject: Sendable {
    let names: Names
    /// The value of each name; null if it cannot be read.
    let values: [ItemValue]
    /// The problems of values that cannot be read, by index.
    let unreadable: [Int: String]
    /// The members, if the object was made of them.
    private let byName: [String: ItemValue]?

    /// The names of members, compared by identity.
    final class Names: Sendable {
        let texts: [String]

        init(_ texts: [String]) { self.texts = texts }
    }

    /// Makes an object with distinct names.
    init(names: Names, values: [ItemValue], unreadable: [Int: String] = [:]) {
        self.names = names
        self.values = values
        self.unreadable = unreadable
        byName = nil
    }

    /// Makes an object of its members. The last value of a repeated name is kept; names that are canonically equivalent
    /// and have different bytes are unreadable.
    init(names: [String], values: [ItemValue], unreadable: [Int: String] = [:]) {
        var texts: [String] = []
        var indices: [String: Int] = [:]
        var kept: [ItemValue] = []
        var problems: [Int: String] = [:]
        for (index, (name, value)) in zip(names, values).enumerated() {
            let position = indices[name] ?? texts.count
            if position < texts.count {
                kept[position] = value
            } else {
                indices[name] = position
                texts.append(name)
                kept.append(value)
            }
            if let problem = unreadable[index] { problems[position] = problem }
            if !texts[position].hasSameBytes(as: name) { problems[position] = JSONParser.equivalentNames }
        }
        self.init(names: Names(texts), values: kept, unreadable: problems)
    }

    /// Makes an object of members in any order.
    package init(_ fields: [String: ItemValue]) {
        names = Names(Array(fields.keys))
        values = Array(fields.values)
        unreadable = [:]
        byName = fields
    }

    /// The members by their names.
    package var fields: [String: ItemValue] {
        byName ?? Dictionary(uniqueKeysWithValues: zip(names.texts, values))
    }
}

extension WireObject: Hashable {
    /// Compares the members, regardless of their order.
    package static func == (left: WireObject, right: WireObject) -> Bool { left.fields == right.fields }

    package func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}
