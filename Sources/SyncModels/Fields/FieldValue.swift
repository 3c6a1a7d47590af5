// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A type of properties that a column can store.
///
/// Numbers, `Bool`, `String`, `Date`, ``Timestamp``, `Data`, `UUID`, `URL`, ``SyncID`` and their optionals
/// conform. An enum with raw values conforms by declaration: `enum Priority: String, FieldValue`.
public protocol FieldValue: ItemValueConvertible, Sendable {
    /// The type of the column.
    static var columnType: ColumnType { get }

    /// Makes a value from a stored one; `nil` if this type cannot hold it.
    init?(itemValue: ItemValue)
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
    /// The column type of the raw values.
    public static var columnType: ColumnType { RawValue.columnType }

    /// Makes the case of a stored raw value; `nil` if there is none.
    @inlinable public init?(itemValue: ItemValue) {
        guard let rawValue = RawValue(itemValue: itemValue) else { return nil }
        self.init(rawValue: rawValue)
    }

    /// The raw value.
    public var itemValue: ItemValue { rawValue.itemValue }
}

extension Optional: FieldValue where Wrapped: FieldValue {
    /// The column type of the wrapped values.
    public static var columnType: ColumnType { Wrapped.columnType }

    /// Makes `nil` from null, and a wrapped value from any other value.
    @inlinable public init?(itemValue: ItemValue) {
        if itemValue.isNull {
            self = .none
        } else {
            guard let wrapped = Wrapped(itemValue: itemValue) else { return nil }
            self = .some(wrapped)
        }
    }
}

/// Recognizes optional types of properties.
protocol OptionalProperty {}
extension Optional: OptionalProperty {}

/// Recognizes properties that refer to an item of another model.
protocol ModelReference {
    static var referredModel: any SyncModel.Type { get }
}

extension SyncID: ModelReference {
    static var referredModel: any SyncModel.Type { Model.self }
}

extension Optional: ModelReference where Wrapped: ModelReference {
    static var referredModel: any SyncModel.Type { Wrapped.referredModel }
}
