// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A struct whose properties are the columns of one table.
///
/// ```swift
/// struct Todo: SyncModel {
///     var id = SyncID<Todo>()
///     var text = ""
///     var complete = false
///     static let schema = ModelSchema("TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete))
/// }
/// ```
///
/// Every property with a column is a `var`, and the model has a blank value: the values of properties whose columns are null.
public protocol SyncModel: Sendable, Identifiable where ID == SyncID<Self> {
    /// The id of the item. It cannot be changed after the insert.
    var id: SyncID<Self> { get set }
    /// The table, and the column of each property.
    static var schema: ModelSchema<Self> { get }
}
