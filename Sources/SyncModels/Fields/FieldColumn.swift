// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
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
    /// Assigns the combination of two changes of the property.
    let merge: (@Sendable (MergedModels<Model>, inout Model) -> Void)?

    init<Value: Sendable>(
        _ name: String, _ type: ColumnType, _ path: any WritableKeyPath<Model, Value> & Sendable,
        _ options: FieldOptions, _ policy: MergePolicy<Value>?,
        assign: @escaping @Sendable (ItemValue, inout Model) -> Bool,
        encode: @escaping @Sendable (Value) throws -> ItemValue
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
                let property = model[keyPath: path]
                let value = try encode(property)
                if case .date = value { try Date(storedAs: property)?.requireStorable() }
                guard value.doubleValue?.isFinite != false else { throw NotFinite() }
                return value
            } catch {
                throw .notEncodable(path, column: name, model.id.text, error)
            }
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

    /// Whether the property has the same value in both models, also a value that cannot be stored.
    func isSame(_ left: Model, _ right: Model) -> Bool {
        let (leftValue, rightValue) = (try? value(left), try? value(right))
        if let leftValue, leftValue == rightValue { return true }
        return leftValue?.withoutOrder == rightValue?.withoutOrder && parts(of: left) == parts(of: right)
    }

    /// Whether the stored values, which the models show, differ in the order of sets at most.
    func isReordered(_ left: (model: Model, value: ItemValue?), _ right: (model: Model, value: ItemValue?))
        -> Bool
    {
        if left.value == right.value { return true }
        guard let leftValue = left.value, let rightValue = right.value,
            leftValue.withoutOrder == rightValue.withoutOrder,
            holds(leftValue, in: left.model), holds(rightValue, in: right.model),
            parts(of: left.model) == parts(of: right.model), let known = try? value(right.model)
        else { return false }
        // Keys that the type does not have may hold an array, whose order counts.
        return addingUnknownKeys(of: leftValue, shownIn: left.model, to: known)
            == addingUnknownKeys(of: rightValue, shownIn: right.model, to: known)
    }

    // An `==` of the app is not used, because it may compare a part of the value only.
    private func parts(of model: Model) -> ItemValue {
        let path: PartialKeyPath<Model> = path
        return ItemValue(partsOf: model[keyPath: path])
    }

    /// Returns a new value of the property with the keys of the stored object that its type does not have.
    ///
    /// - Parameters:
    ///   - stored: the stored value.
    ///   - model: the model that shows the stored value.
    ///   - value: the new value.
    func addingUnknownKeys(of stored: ItemValue, shownIn model: Model, to value: ItemValue) -> ItemValue {
        // A property that cannot be encoded does not tell which keys its type has.
        guard let known = try? self.value(model) else { return value }
        return value.addingUnknownKeys(of: stored, known: known)
    }
}

/// The error of a number that is NaN or infinite.
struct NotFinite: Error, CustomStringConvertible {
    var description: String { "it is not a finite number" }
}

/// The error of a value of a property that is not optional, which is stored as null.
struct ShownAsBlank: Error, CustomStringConvertible {
    var description: String {
        "it is stored as null, for which the property shows its blank value; make the property optional"
    }
}

/// The error of a value that the property's type encodes and does not decode.
struct NotReadable: Error, CustomStringConvertible {
    var description: String { "its type cannot read the value as which it would be stored" }
}

/// The error of a date that no timestamp is.
struct UnrepresentableDate: Error, CustomStringConvertible {
    var description: String {
        "its date is not in the years 1 to 9999, as .distantPast; use an optional property for no date"
    }
}

extension Date {
    /// The date of a property, also of one that has a date as its raw value; `nil` for other types.
    fileprivate init?(storedAs property: Any) {
        if let date = property as? Date {
            self = date
        } else if let property = property as? any RawRepresentable {
            self.init(storedAs: property.rawValue)
        } else {
            return nil
        }
    }

    /// - Throws: ``UnrepresentableDate`` if the timestamp would be of another instant.
    func requireStorable() throws {
        guard abs(Timestamp(self).date.timeIntervalSince(self)) < 0.001 else { throw UnrepresentableDate() }
    }
}

/// The two changes of an item in conflict, and the state that both were made on.
struct MergedModels<Model: SyncModel> {
    let base: Model?
    let mine: Model
    let theirs: Model
    /// Whether the device's change was made after the server's, by their clocks.
    let isMineLater: Bool
}
