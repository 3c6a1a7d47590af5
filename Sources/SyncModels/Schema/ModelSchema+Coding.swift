// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ModelSchema {
    /// Makes a model from an item.
    ///
    /// A property has its blank value if its column is null or holds a value that the property cannot hold.
    ///
    /// - Throws: ``UnreadableItem`` if the column is ``FieldOptions/required``.
    func decode(_ item: Item) throws(UnreadableItem) -> Model {
        try decode(RowValues(item, columns: columnNames))
    }

    /// Makes a model from an item of the server, which has no local-only columns: their values are those of the device's item.
    ///
    /// - Parameter requiresValues: whether the item is unreadable without the values of ``FieldOptions/required`` columns.
    /// - Throws: ``UnreadableItem`` as ``decode(_:)``.
    func decode(
        _ item: Item, localOnlyOf local: Item?, requiresValues: Bool = true
    ) throws(UnreadableItem) -> Model {
        var item = item
        for column in columns where column.options.contains(.localOnly) {
            item.content[column.name] = local?.content[column.name]
        }
        return try decode(RowValues(item, columns: columnNames), requiresValues: requiresValues)
    }

    /// Makes a model from the values of a row in ``columnNames``.
    ///
    /// - Throws: ``UnreadableItem`` as ``decode(_:)``.
    func decode(_ row: RowValues, requiresValues: Bool = true) throws(UnreadableItem) -> Model {
        var model = blank
        model.id = SyncID(unchecked: row.id)
        var position = 0
        for column in columns {
            let value = row.values[position]
            position += 1
            guard column.read(value, into: &model) || !requiresValues else {
                throw UnreadableItem(column.path, column.name, value, id: row.id)
            }
        }
        guard showsSystemProperties else { return model }
        for field in fields {
            switch field.role {
            case .system(let path): model[keyPath: path] = row.system
            case .unknown(let path): model[keyPath: path] = row.system.undeclaredValues
            case .column, .transient: break
            }
        }
        return model
    }

    /// Returns the values of all columns.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` for a value that cannot be stored.
    func encode(_ model: Model) throws(SyncError) -> [String: ItemValue] {
        var values = [String: ItemValue](minimumCapacity: columns.count)
        for column in columns { values[column.name] = try value(of: column, in: model) }
        return values
    }

    /// Returns the value of a column to store.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` for a value that cannot be stored, and for one that would be read as another.
    func value(of column: FieldColumn<Model>, in model: Model) throws(SyncError) -> ItemValue {
        let value = try column.value(model)
        func refusal(_ error: any Error) -> SyncError {
            .notEncodable(column.path, column: column.name, model.id.text, error)
        }
        // A value that cannot be read is shown as the blank one.
        func isBlank() -> Bool { !column.options.contains(.required) && (try? column.value(blank)) == value }
        if value.isNull, !column.isOptional {
            if !isBlank() { throw refusal(ShownAsBlank()) }
        } else if !value.isNull, !column.holds(column.type.converting(value) ?? value, in: model), !isBlank()
        {
            throw refusal(NotReadable())
        }
        return value
    }

    /// Returns the columns whose values differ, with the values of the edited model.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` for a value that cannot be stored, and for a change of a
    ///   property that only shows what the server has set; ``SyncError/Code/invalidItemID`` for a change of the
    ///   id.
    func changes(from original: Model, to edited: Model) throws(SyncError) -> [String: ItemValue] {
        guard edited.id == original.id else {
            throw SyncError(
                .invalidItemID,
                "The id of \(Model.self) '\(original.id)' cannot be changed to '\(edited.id)'. "
                    + "Insert a \(Model.self) with the new id, and delete this one.")
        }
        var changes: [String: ItemValue] = [:]
        for field in fields {
            switch field.role {
            case .column(let column):
                if !column.isSame(original, edited) {
                    changes[column.name] = try value(of: column, in: edited)
                }
            case .system(let path) where edited[keyPath: path] != original[keyPath: path]:
                throw .notWritable(path, "the server sets it", edited.id.text)
            case .unknown(let path) where edited[keyPath: path] != original[keyPath: path]:
                throw .notWritable(
                    path, "it shows undeclared columns; declare a column to write it",
                    edited.id.text)
            case .system, .unknown, .transient: break
            }
        }
        return changes
    }

    /// Returns the changes with the keys of JSON objects that are stored and that the types of the properties do not have.
    ///
    /// - Parameters:
    ///   - item: the stored item.
    ///   - model: the model of the stored item.
    /// - Throws: ``SyncError/Code/invalidItem`` for a stored JSON value that the property cannot hold: a change of a part of
    ///   the property's value would replace all of it.
    func addingUnknownKeys(
        of item: Item, _ model: Model, to changes: [String: ItemValue]
    ) throws(SyncError) -> [String: ItemValue] {
        var changes = changes
        for column in columns where column.type == .json {
            guard let change = changes[column.name], let stored = item.content[column.name], !stored.isNull
            else { continue }
            guard column.holds(stored, in: model) else {
                throw .notWritable(
                    column.path,
                    "the column '\(column.name)' holds a value that the property cannot hold, and would lose it. "
                        + "Let the type decode the value, for example with an optional property for a key that the value "
                        + "lacks, or replace it with `table.raw`",
                    model.id.text)
            }
            changes[column.name] = column.addingUnknownKeys(of: stored, shownIn: model, to: change)
        }
        return changes
    }

    /// Returns the values that changed columns had in an older copy, and that the stored item does not have any more.
    ///
    /// A column that the copy shows as the stored item does is left out: its stored value is exact, while a property shows null
    /// as its blank value, and a date without some of its digits. So are local-only columns, which no conflict is about.
    ///
    /// - Parameters:
    ///   - original: the older copy.
    ///   - model: the model of the stored item.
    ///   - changes: the columns that are changed.
    func olderValues(
        of original: Model, than model: Model, in changes: [String: ItemValue]
    ) -> [String: ItemValue] {
        var values: [String: ItemValue] = [:]
        for column in columns where changes.keys.contains(column.name) {
            guard !column.options.contains(.localOnly), !column.isSame(original, model),
                let value = try? column.value(original)
            else { continue }
            values[column.name] = value
        }
        return values
    }

    /// The state of the row that the model was read from, if a property holds it.
    func system(of model: Model) -> SystemProperties? {
        for field in fields {
            if case .system(let path) = field.role { return model[keyPath: path] }
        }
        return nil
    }
}
