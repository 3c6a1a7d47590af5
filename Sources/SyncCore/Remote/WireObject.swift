// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An object as a server sends it: the names of its members in the order they came, each once, and their values.
///
/// The objects of a list share their names for as long as those are the same, so that what a reader finds out about
/// names it finds out once, and not for each row.
package struct WireObject: Sendable {
    let names: Names
    /// The value of each name; null where it could not be read.
    let values: [ItemValue]
    /// Why values could not be read, by their index.
    let unreadable: [Int: String]

    /// Names of members, told apart from others by their identity.
    final class Names: Sendable {
        let texts: [String]

        init(_ texts: [String]) { self.texts = texts }
    }

    /// Makes an object of values whose names are all different.
    init(names: Names, values: [ItemValue], unreadable: [Int: String] = [:]) {
        self.names = names
        self.values = values
        self.unreadable = unreadable
    }

    /// Makes an object of members as they came. Of those with the same name, the last one counts; names that are
    /// canonically equivalent and not the same bytes are unreadable.
    init(names: [String], values: [ItemValue], unreadable: [Int: String] = [:]) {
        var texts: [String] = []
        var places: [String: Int] = [:]
        var kept: [ItemValue] = []
        var problems: [Int: String] = [:]
        for (index, (name, value)) in zip(names, values).enumerated() {
            let place = places[name] ?? texts.count
            if place < texts.count {
                kept[place] = value
            } else {
                places[name] = place
                texts.append(name)
                kept.append(value)
            }
            if let problem = unreadable[index] { problems[place] = problem }
            if !texts[place].hasSameBytes(as: name) { problems[place] = JSONParser.equivalentNames }
        }
        self.init(names: Names(texts), values: kept, unreadable: problems)
    }

    /// Makes an object of its members in any order.
    package init(_ fields: [String: ItemValue]) {
        self.init(names: Names(Array(fields.keys)), values: Array(fields.values))
    }

    /// The members by their names.
    package var fields: [String: ItemValue] {
        Dictionary(uniqueKeysWithValues: zip(names.texts, values))
    }
}

extension WireObject: Hashable {
    /// The same members, in whatever order.
    package static func == (left: WireObject, right: WireObject) -> Bool { left.fields == right.fields }

    package func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}
