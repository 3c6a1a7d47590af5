// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A conformance level. Each level requires core; full requires all levels.
public enum StoreLevel: String, Sendable, Hashable, CaseIterable {
    /// Exact items, queries, queue, error log and config, in transactions.
    case core
    /// Committed data survives closing, crashing and reopening.
    case durable
    /// Concurrent readers and writers.
    case concurrent
    /// Large sizes, random scripts, fault injection.
    case full
}

/// An optional capability of a store, as ``/SyncCore/StoreCapabilities`` declares it.
public enum StorePower: String, Sendable, Hashable, CaseIterable {
    /// `isDurable`.
    case durable
    /// `hasConcurrentReaders`.
    case concurrentReaders
    /// `isMultiProcess`.
    case multiProcess
    /// `usesIndexes`.
    case indexes
    /// `maxIDLength` of `Int.max`.
    case unlimitedIDs

    /// The declaration in source code.
    public var declaration: String {
        switch self {
        case .durable: "StoreCapabilities.isDurable"
        case .concurrentReaders: "StoreCapabilities.hasConcurrentReaders"
        case .multiProcess: "StoreCapabilities.isMultiProcess"
        case .indexes: "StoreCapabilities.usesIndexes"
        case .unlimitedIDs: "StoreCapabilities.maxIDLength of Int.max"
        }
    }

    func isDeclared(by capabilities: StoreCapabilities) -> Bool {
        switch self {
        case .durable: capabilities.isDurable
        case .concurrentReaders: capabilities.hasConcurrentReaders
        case .multiProcess: capabilities.isMultiProcess
        case .indexes: capabilities.usesIndexes
        case .unlimitedIDs: capabilities.maxIDLength == .max
        }
    }
}

/// What a rule requires of the stores that it applies to.
public enum StoreRequirement: Sendable, Hashable {
    /// The store declares the capability.
    case declared(StorePower)
    /// The store does not declare the capability.
    case undeclared(StorePower)
    /// The harness provides a ``ChildProgram``, and the store declares that it is durable.
    case childProgram

    /// Returns why the rule does not apply to a store with these capabilities, or `nil` when it applies.
    func mismatch(with capabilities: StoreCapabilities) -> String? {
        switch self {
        case .declared(let power) where !power.isDeclared(by: capabilities):
            "The store does not declare \(power.declaration)."
        case .undeclared(let power) where power.isDeclared(by: capabilities):
            "The store declares \(power.declaration)."
        case .childProgram: StoreRequirement.declared(.durable).mismatch(with: capabilities)
        default: nil
        }
    }

    /// How an author declares an intended difference.
    var remedy: String {
        switch self {
        case .declared(let power): "do not declare \(power.declaration)"
        case .undeclared(let power): "declare \(power.declaration)"
        case .childProgram: "do not declare \(StorePower.durable.declaration)"
        }
    }
}
