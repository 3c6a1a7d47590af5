// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// How much of the contract a store keeps. Each level includes core; full includes all.
public enum StoreLevel: String, Sendable, Hashable, CaseIterable {
    /// Exact items, queries, queue, error log and config, in transactions.
    case core
    /// What was written is there after closing, crashing and opening again.
    case durable
    /// Readers and writers at the same time.
    case concurrent
    /// Great sizes, long random scripts, every fault.
    case full
}

/// An optional power of a store, as ``/SyncCore/StoreCapabilities`` declares it.
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

    /// The declaration as an author writes it.
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

/// Which stores a rule speaks about: those that declare a power, or those that do not.
public enum StoreRequirement: Sendable, Hashable {
    /// The store declares the power.
    case declared(StorePower)
    /// The store does not declare the power.
    case undeclared(StorePower)
    /// The harness names a ``ChildProgram``, and the store declares that it is durable.
    case childProgram

    /// Why the rule does not speak about a store that declares these; `nil` when it does.
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

    /// How an author who differs on purpose can say so.
    var remedy: String {
        switch self {
        case .declared(let power): "do not declare \(power.declaration)"
        case .undeclared(let power): "declare \(power.declaration)"
        case .childProgram: "do not declare \(StorePower.durable.declaration)"
        }
    }
}
