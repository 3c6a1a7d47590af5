// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Options of a ``Field``.
public struct FieldOptions: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int

    /// Makes options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The store keeps an index on the column.
    public static let indexed = FieldOptions(rawValue: 1)
    /// The column exists on this device only: it is never sent, and a pull does not change it.
    public static let localOnly = FieldOptions(rawValue: 2)
    /// A row whose column is null, or holds a value that the property cannot hold, is unreadable.
    ///
    /// Without this option, the property has its blank value. A ``localOnly`` column cannot be required: rows of the server
    /// lack it. A column that a later version of the app adds should not be required: the rows of the device lack it, and would
    /// be unreadable until the next pull, and those that the server does not have until they are changed.
    public static let required = FieldOptions(rawValue: 4)
    /// A ``SyncID`` does not make the model that it refers to a parent: pushes do not order the two tables.
    public static let unordered = FieldOptions(rawValue: 8)
}
