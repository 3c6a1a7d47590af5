// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// One line of a ``ModelSchema``: what a property of the model stores.
public struct Field<Model: SyncModel>: Sendable {
    enum Role: Sendable {
        case column(FieldColumn<Model>)
        case system(any WritableKeyPath<Model, SystemProperties> & Sendable)
        case unknown(any WritableKeyPath<Model, [String: ItemValue]> & Sendable)
        case transient
    }

    let path: any PartialKeyPath<Model> & Sendable
    let role: Role

    /// Stores the property in the column of that name.
    ///
    /// - Parameters:
    ///   - name: the name of the column, here and on the server.
    ///   - path: a stored property of the model.
    ///   - options: options of the column.
    ///   - policy: how ``ModelConflict/merged(preferring:)`` combines two changes of the field.
    @inlinable public static func field<Value: FieldValue>(
        _ name: String, _ path: any WritableKeyPath<Model, Value> & Sendable, _ options: FieldOptions = [],
        merging policy: MergePolicy<Value>? = nil
    ) -> Field {
        // In the app's module this closure is specialized for the property's type, which halves the time of reads.
        field(name, path, options, policy) { stored, model in
            guard let value = Value(itemValue: stored) else { return false }
            model[keyPath: path] = value
            return true
        }
    }

    /// Not available: the type of the property cannot be stored in a column.
    @available(
        *, unavailable, message: "Use .json, or make the type a FieldValue. Store UInt64 or Decimal as text."
    )
    public static func field<Value: Codable>(
        _ name: String, _ path: any WritableKeyPath<Model, Value> & Sendable, _ options: FieldOptions = []
    ) -> Field { fatalError() }

    @usableFromInline static func field<Value: FieldValue>(
        _ name: String, _ path: any WritableKeyPath<Model, Value> & Sendable, _ options: FieldOptions,
        _ policy: MergePolicy<Value>?, assign: @escaping @Sendable (ItemValue, inout Model) -> Bool
    ) -> Field {
        let column = FieldColumn(
            name, Value.columnType, path, options, policy, assign: assign, encode: { $0.itemValue })
        return Field(path: path, role: .column(column))
    }

    /// Stores the property as JSON in the column of that name. Filters can only test it for null.
    ///
    /// A change of the property keeps the keys of stored objects that the type does not have, also of objects in objects.
    /// An array that changes is stored as the type has it, without such keys of its elements. Dates are written to the
    /// millisecond, and a `UUID` in upper case, as `JSONEncoder` does.
    ///
    /// Numbers are stored as 64-bit integers or doubles. A write of a number with more digits than they keep, such as a
    /// `UInt64` above `Int64.max` or a `Decimal` of 20 digits, throws ``SyncError/Code/invalidItem``. Encode such
    /// numbers as text.
    ///
    /// - Parameters:
    ///   - name: the name of the column, here and on the server.
    ///   - path: a stored property of the model.
    ///   - options: options of the column.
    ///   - policy: how ``ModelConflict/merged(preferring:)`` combines two changes of the field.
    public static func json<Value: Codable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Model, Value> & Sendable, _ options: FieldOptions = [],
        merging policy: MergePolicy<Value>? = nil
    ) -> Field {
        let column = FieldColumn(name, .json, path, options, policy) { stored, model in
            guard let value = JSONField.decode(Value.self, from: stored) else { return false }
            model[keyPath: path] = value
            return true
        } encode: { value in
            try JSONField.encode(value)
        }
        return Field(path: path, role: .column(column))
    }

    /// Shows version and times of the row in the property. They are not written.
    ///
    /// With this field, ``ModelTable/save(_:from:)`` reports a conflict if the server's row has changed since
    /// the original was read. An original from before the row's first push has no version, and no conflict is reported for
    /// it: read the row again after that push.
    public static func system(_ path: any WritableKeyPath<Model, SystemProperties> & Sendable) -> Field {
        Field(path: path, role: .system(path))
    }

    /// Shows the server's columns that the schema does not declare in the property. They are not written.
    public static func unknown(_ path: any WritableKeyPath<Model, [String: ItemValue]> & Sendable) -> Field {
        Field(path: path, role: .unknown(path))
    }

    /// Declares that the property is not stored.
    public static func transient<Value>(_ path: any KeyPath<Model, Value> & Sendable) -> Field {
        Field(path: path, role: .transient)
    }
}
