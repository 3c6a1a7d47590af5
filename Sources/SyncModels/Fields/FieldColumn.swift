// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A column of a model, without the type of its property. A class, because each read of a row passes its columns around.
final class FieldColumn<Model: SyncModel>: Sendable {
    let name: String
    let path: any PartialKeyPath<Model> & Sendable
    let type: ColumnType
    let options: FieldOptions
    let isOptional: Bool
    /// The model that the property refers to.
    let referredModel: (any SyncModel.Type)?
    /// Assigns a stored value to the property. Returns `false` if the property cannot hold it.
    let assign: @Sendable (ItemValue, inout Model) -> Bool
    /// Returns the value of the property to store.
    let value: @Sendable (Model) throws(SyncError) -> ItemValue
    /// Whether the property is equal in two models, also if it is stored differently, as equal sets are; `nil` if equal values are
    /// stored equally.
    private let isEqual: (@Sendable (Model, Model) -> Bool)?
    /// Assigns the combination of two changes of the property.
    let merge: (@Sendable (MergedModels<Model>, inout Model) -> Void)?

    init<Value: Sendable>(
        _ name: String, _ type: ColumnType, _ path: any WritableKeyPath<Model, Value> & Sendable,
        _ options: FieldOptions, _ policy: MergePolicy<Value>?,
        assign: @escaping @Sendable (ItemValue, inout Model) -> Bool,
        encode: @escaping @Sendable (Value) throws -> ItemValue,
        isEqual: (@Sendable (Value, Value) -> Bool)? = nil
    ) {
        self.name = name
        self.path = path
        self.type = type
        self.options = options
        isOptional = Value.self is any OptionalProperty.Type
        referredModel = (Value.self as? any ModelReference.Type)?.referredModel
        self.assign = assign
        value = { model throws(SyncError) in
            do {
                let value = try encode(model[keyPath: path])
                guard value.doubleValue?.isFinite != false else { throw NotFinite() }
                return value
            } catch {
                throw .notEncodable(Model.self, path, column: name, model.id.text, error)
            }
        }
        self.isEqual = isEqual.map { isEqual in
            { @Sendable left, right in isEqual(left[keyPath: path], right[keyPath: path]) }
        }
        guard let policy else {
            merge = nil
            return
        }
        merge = { models, merged in
            merged[keyPath: path] = policy.merge(
                models.base?[keyPath: path], models.mine[keyPath: path], models.theirs[keyPath: path],
                models.isMineLater)
        }
    }
}

extension FieldColumn {
    /// Assigns a stored value to the property, which keeps its value if it cannot hold this one.
    ///
    /// - Returns: `false` if the property is required and cannot hold the value.
    func read(_ value: ItemValue, into model: inout Model) -> Bool {
        (isOptional || !value.isNull) && assign(value, &model) || !options.contains(.required)
    }

    /// Whether the property of such a model can hold the stored value, and would not be blank instead.
    func canHold(_ value: ItemValue?, in model: Model) -> Bool {
        guard let value, !value.isNull else { return true }
        var probe = model
        return assign(value, &probe)
    }

    /// Whether the property shows the stored value, and not its blank value instead. A missing value is null.
    func holds(_ value: ItemValue?, in model: Model) -> Bool {
        let value = value ?? .null
        var probe = model
        return (isOptional || !value.isNull) && assign(value, &probe)
    }

    /// Whether the property has the same value in both models.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` for a value that cannot be stored.
    func isSame(_ left: Model, _ right: Model) throws(SyncError) -> Bool {
        let (leftValue, rightValue) = (try value(left), try value(right))
        return leftValue == rightValue || isReordered((left, leftValue), (right, rightValue))
    }

    /// Whether the property is equal in both models, and their stored values differ in the order of a set at most.
    func isReordered(_ left: (model: Model, value: ItemValue?), _ right: (model: Model, value: ItemValue?))
        -> Bool
    {
        // An `==` of the app may compare a part of the value only.
        guard isEqual?(left.model, right.model) == true else { return false }
        return left.value?.withoutOrder == right.value?.withoutOrder
    }
}

/// The error of a number that is NaN or infinite.
struct NotFinite: Error, CustomStringConvertible {
    var description: String { "it is not a finite number" }
}

/// The two changes of an item in conflict, and the state that both were made on.
struct MergedModels<Model: SyncModel> {
    let base: Model?
    let mine: Model
    let theirs: Model
    /// Whether the device's change was made after the server's, by their clocks.
    let isMineLater: Bool
}
