// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How two changes of one field are combined. It is not used for a field that only one side has changed, nor for a row that the app
/// has changed in its own database: there, it is not known what the app has changed.
///
/// ```swift
/// .field("taps", \.taps, merging: .counter)
/// ```
///
/// Only ``ModelConflict/merged(preferring:)`` and `resolveByField` use policies. A rule without `merged`, and
/// `ConflictResolver.fieldMerge(onClash:)`, do not.
public struct MergePolicy<Value>: Sendable {
    typealias Merge = @Sendable (_ base: Value?, _ mine: Value, _ theirs: Value, _ isMineLater: Bool) -> Value

    let merge: Merge

    /// Makes a policy from a function of the value that both changes were made on, the device's value, and the
    /// server's value. The first is `nil` if the device never had the row, as for inserts; after a lost response to an insert, it is what
    /// was inserted.
    public init(_ merge: @escaping @Sendable (_ base: Value?, _ mine: Value, _ theirs: Value) -> Value) {
        self.init(merge: { base, mine, theirs, _ in merge(base, mine, theirs) })
    }

    private init(merge: @escaping Merge) { self.merge = merge }

    /// The device's value.
    public static var mine: MergePolicy { MergePolicy { _, mine, _ in mine } }

    /// The server's value.
    public static var theirs: MergePolicy { MergePolicy { _, _, theirs in theirs } }

    /// The value of the later change: the time of the item's last edit, of any field, by the device's clock against the
    /// server's `updatedAt`. The server wins ties, and rows without `updatedAt`.
    public static var latest: MergePolicy {
        MergePolicy(merge: { _, mine, theirs, isMineLater in isMineLater ? mine : theirs })
    }
}

extension MergePolicy where Value: Comparable & SendableMetatype {
    /// The greater of the two values.
    public static var greatest: MergePolicy { MergePolicy { _, mine, theirs in max(mine, theirs) } }

    /// The lesser of the two values.
    public static var least: MergePolicy { MergePolicy { _, mine, theirs in min(mine, theirs) } }
}

extension MergePolicy where Value: FixedWidthInteger & SendableMetatype {
    /// The server's value, changed by what the device has added or subtracted. It stops at the limits of the type.
    ///
    /// If the response to an update was lost, and another client has changed the counter since, the device cannot tell
    /// whether its amount was counted, and adds it.
    public static var counter: MergePolicy {
        MergePolicy { base, mine, theirs in
            let base = base ?? 0
            // Distances of two numbers, which can be greater than the greatest one.
            func distance(from low: Value, to high: Value) -> Value.Magnitude {
                Value.Magnitude(truncatingIfNeeded: high &- low)
            }
            if mine >= base {
                let amount = distance(from: base, to: mine)
                return amount > distance(from: theirs, to: .max)
                    ? .max : theirs &+ Value(truncatingIfNeeded: amount)
            }
            let amount = distance(from: mine, to: base)
            return amount > distance(from: .min, to: theirs)
                ? .min : theirs &- Value(truncatingIfNeeded: amount)
        }
    }
}

extension MergePolicy where Value: BinaryFloatingPoint & SendableMetatype {
    /// The server's value, changed by what the device has added or subtracted. It stops at the greatest finite numbers.
    public static var counter: MergePolicy {
        MergePolicy { base, mine, theirs in
            let limit = Value.greatestFiniteMagnitude
            let amount = min(max(mine - (base ?? 0), -limit), limit)
            return min(max(theirs + amount, -limit), limit)
        }
    }
}

/// An optional number, whose changes a ``MergePolicy`` can count.
public protocol OptionalNumber {
    /// The type of the number.
    associatedtype Number: Numeric

    /// The number, if there is one.
    var number: Number? { get }

    /// Makes a value with this number, or without one.
    init(number: Number?)
}

extension Optional: OptionalNumber where Wrapped: Numeric {
    /// The number, if there is one.
    public var number: Wrapped? { self }

    /// Makes a value with this number, or without one.
    public init(number: Wrapped?) { self = number }
}

extension MergePolicy where Value: OptionalNumber & SendableMetatype, Value.Number: SendableMetatype {
    /// Returns the policy that counts as that of the number does. `nil` counts as 0, and is the result if both sides have it.
    fileprivate static func counting(by policy: MergePolicy<Value.Number>) -> MergePolicy {
        MergePolicy { base, mine, theirs in
            guard mine.number != nil || theirs.number != nil else { return mine }
            return Value(
                number: policy.merge(base?.number, mine.number ?? 0, theirs.number ?? 0, false))
        }
    }
}

extension MergePolicy
where
    Value: OptionalNumber & SendableMetatype, Value.Number: FixedWidthInteger & SendableMetatype
{
    /// The counter of the number. `nil` counts as 0, and is the result if both sides have removed the number.
    public static var counter: MergePolicy { counting(by: MergePolicy<Value.Number>.counter) }
}

extension MergePolicy
where
    Value: OptionalNumber & SendableMetatype, Value.Number: BinaryFloatingPoint & SendableMetatype
{
    /// The counter of the number. `nil` counts as 0, and is the result if both sides have removed the number.
    public static var counter: MergePolicy { counting(by: MergePolicy<Value.Number>.counter) }
}

extension MergePolicy {
    /// Not available: the property is no integer, `Double` or `Float`.
    @available(
        *, unavailable,
        message:
            "counter needs an integer, a Double or a Float, which may be optional. Use MergePolicy { base, mine, theirs in ... } instead."
    )
    public static var counter: MergePolicy { fatalError() }

    /// Not available: values of the property cannot be compared.
    @available(
        *, unavailable,
        message: "The property is not Comparable. Use MergePolicy { base, mine, theirs in ... } instead."
    )
    public static var greatest: MergePolicy { fatalError() }

    /// Not available: values of the property cannot be compared.
    @available(
        *, unavailable,
        message: "The property is not Comparable. Use MergePolicy { base, mine, theirs in ... } instead."
    )
    public static var least: MergePolicy { fatalError() }

    /// Not available: the property is neither a set nor an array of `Equatable` elements.
    @available(
        *, unavailable,
        message:
            "union needs a set, or an array of Equatable elements. Use MergePolicy { base, mine, theirs in ... } instead."
    )
    public static var union: MergePolicy { fatalError() }
}

extension MergePolicy
where
    Value: RangeReplaceableCollection & RandomAccessCollection & SendableMetatype,
    Value.Element: Equatable & SendableMetatype
{
    /// The server's elements without those that the device has removed, followed by those that the device has added. An element
    /// that both sides have added or removed counts once. Elements are compared by `==`. Of equal elements, the server's is
    /// kept.
    public static var union: MergePolicy {
        MergePolicy { base, mine, theirs in
            let base = base ?? Value()
            let removed = base.removing(mine).removing(base.removing(theirs))
            let added = mine.removing(base).removing(theirs.removing(base))
            return theirs.removing(removed) + added
        }
    }
}

extension RangeReplaceableCollection where Self: BidirectionalCollection, Element: Equatable {
    /// Returns the elements without the last occurrence of each of the others.
    fileprivate func removing(_ others: Self) -> Self {
        var others = others
        let kept = reversed().filter { element in
            guard let index = others.firstIndex(of: element) else { return true }
            others.remove(at: index)
            return false
        }
        return Self(kept.reversed())
    }
}

extension MergePolicy where Value: SetAlgebra & SendableMetatype {
    /// The elements of both sides, without those that one side has removed. Of equal elements, the device's is kept.
    public static var union: MergePolicy {
        MergePolicy { base, mine, theirs in
            let removed = (base ?? Value()).subtracting(mine.intersection(theirs))
            return mine.union(theirs).subtracting(removed)
        }
    }
}
