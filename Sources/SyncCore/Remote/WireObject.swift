// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An object as a server sends it: the names of its members in the order they came, each once, and their values.
///
/// The objects of a list share their names for as long as those are the same, so that what a reader finds out about
/// names it finds out once, and not for each row.
package struct WireObject: Sendable {
    let names: Names
    let values: [ItemValue]

    /// Names of members, told apart from others by their identity.
    final class Names: Sendable {
        let texts: [String]

        init(_ texts: [String]) { self.texts = texts }
    }

    /// Makes an object of values whose names are all different.
    init(names: Names, values: [ItemValue]) {
        self.names = names
        self.values = values
    }

    /// Makes an object of members as they came. Of those with the same name, the last one counts.
    init(names: [String], values: [ItemValue]) {
        var texts: [String] = []
        var places: [String: Int] = [:]
        var kept: [ItemValue] = []
        for (name, value) in zip(names, values) {
            if let place = places[name] {
                kept[place] = value
            } else {
                places[name] = texts.count
                texts.append(name)
                kept.append(value)
            }
        }
        self.init(names: Names(texts), values: kept)
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
