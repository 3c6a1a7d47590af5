// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The fields of an item: in the positions of a layout that tables and queries share, or by name.
///
/// Rows with a layout need no hashing, and less memory. A field that the layout does not have moves all of them to a
/// dictionary.
package struct ItemFields: Sendable {
    private enum Storage: Sendable {
        case named([String: ItemValue])
        /// The value of each position; `nil` for a missing field.
        case packed(FieldLayout, [ItemValue?])
    }

    private var storage: Storage

    package init(_ fields: [String: ItemValue]) { storage = .named(fields) }

    /// Makes fields of the layout from the value of each position, `nil` for a missing field.
    package init(_ layout: FieldLayout, _ values: [ItemValue?]) {
        precondition(values.count == layout.count, "Each position of a layout has a value, or nil.")
        storage = .packed(layout, values)
    }

    package var byName: [String: ItemValue] {
        get {
            switch storage {
            case .named(let fields): return fields
            case .packed(let layout, let values):
                var fields = [String: ItemValue](minimumCapacity: values.count)
                for (position, value) in values.enumerated() {
                    if let value { fields[layout.names[position]] = value }
                }
                return fields
            }
        }
        _modify {
            var fields = byName
            // The dictionary has one owner while it is changed.
            storage = .named([:])
            defer { storage = .named(fields) }
            yield &fields
        }
    }

    /// The value of the field, `nil` when it is missing.
    package subscript(name: String) -> ItemValue? {
        get {
            switch storage {
            case .named(let fields): fields[name]
            case .packed(let layout, let values): layout.position(of: name).flatMap { values[$0] }
            }
        }
        set {
            guard case .packed(let layout, var values) = storage else { return byName[name] = newValue }
            // A dictionary keeps the spelling of the name that a field has, and of one that is only equivalent otherwise.
            if let position = layout.position(of: name),
                values[position] != nil || layout.names[position].hasSameBytes(as: name)
            {
                storage = .named([:])
                values[position] = newValue
                storage = .packed(layout, values)
            } else if newValue != nil {
                byName[name] = newValue
            }
        }
    }

    /// The value of the field, `nil` when it is missing.
    ///
    /// - Parameter position: where most layouts have the name, which is looked at first.
    package func value(of name: String, near position: Int) -> ItemValue? {
        if case .packed(let layout, let values) = storage, position < values.count,
            layout.names[position] == name
        {
            return values[position]
        }
        return self[name]
    }

    /// The layout, if the fields have one.
    var layout: FieldLayout? {
        if case .packed(let layout, _) = storage { layout } else { nil }
    }

    /// The identity of the layout, which is compared without counting a reference.
    var layoutID: ObjectIdentifier? {
        if case .packed(let layout, _) = storage { ObjectIdentifier(layout) } else { nil }
    }

    /// The value at the position of the layout, `nil` when the field is missing.
    func value(at position: Int) -> ItemValue? {
        if case .packed(_, let values) = storage { values[position] } else { .none }
    }

    /// Reads the values at the positions of the layout, null for a missing field.
    func read(_ positions: [Int?], into values: inout [ItemValue]) {
        guard case .packed(_, let stored) = storage else { return }
        for (index, position) in positions.enumerated() {
            values[index] = position.flatMap { stored[$0] } ?? .null
        }
    }

    /// Returns the fields in the positions of the layout, if it has all of them.
    package func packed(in layout: FieldLayout) -> ItemFields {
        if case .packed(layout, _) = storage { return self }
        var values = [ItemValue?](repeating: .none, count: layout.count)
        var count = 0
        forEach { name, value in
            guard let position = layout.position(ofBytesOf: name) else { return }
            values[position] = value
            count += 1
        }
        return count == self.count ? ItemFields(layout, values) : self
    }

    /// The number of fields.
    package var count: Int {
        switch storage {
        case .named(let fields): fields.count
        case .packed(_, let values): values.count { $0 != nil }
        }
    }

    /// Calls the body with each field.
    package func forEach<Failure>(
        _ body: (_ name: String, _ value: ItemValue) throws(Failure) -> Void
    ) throws(Failure) {
        switch storage {
        case .named(let fields): for (name, value) in fields { try body(name, value) }
        case .packed(let layout, let values):
            for position in values.indices {
                if let value = values[position] { try body(layout.names[position], value) }
            }
        }
    }

    /// Returns the fields for which the body returns true.
    package func filter(_ isIncluded: (_ name: String, _ value: ItemValue) -> Bool) -> ItemFields {
        switch storage {
        case .named(let fields): ItemFields(fields.filter(isIncluded))
        case .packed(let layout, let values):
            ItemFields(
                layout,
                values.enumerated().map { position, value in
                    // `ItemValue` is expressible by `nil`, which would be null here.
                    value.flatMap { isIncluded(layout.names[position], $0) ? $0 : .none }
                })
        }
    }

    /// Sets the fields that the others have.
    package mutating func merge(_ others: ItemFields) {
        if case .packed(let layout, var values) = storage,
            case .packed(let other, let newValues) = others.storage,
            layout == other
        {
            storage = .named([:])
            for position in newValues.indices {
                if let value = newValues[position] { values[position] = value }
            }
            storage = .packed(layout, values)
        } else {
            others.forEach { name, value in self[name] = value }
        }
    }
}

extension ItemFields: ExpressibleByDictionaryLiteral {
    /// The last value of a repeated name is kept.
    package init(dictionaryLiteral elements: (String, ItemValue)...) {
        self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}

extension ItemFields: Hashable {
    /// Compares the fields, however they are kept.
    package static func == (left: ItemFields, right: ItemFields) -> Bool {
        switch (left.storage, right.storage) {
        case (.packed(let layout, let values), .packed(let other, let others)) where layout == other:
            values == others
        case (.named(let fields), .named(let others)): fields == others
        default: left.byName == right.byName
        }
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) { hasher.combine(byName) }
}
