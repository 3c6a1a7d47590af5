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
    /// The store is durable, and keeps its data in files at its path.
    case files
    /// The store keeps nothing at its path.
    case noFiles
    /// The harness provides a ``ChildProgram``, and the store declares that it is durable.
    case childProgram
    /// The harness provides a ``ChildProgram``, and the store declares that several processes can have it open.
    case otherProcess
    /// The harness provides a ``ChildProgram``, and the store declares that it is durable and that one process can have it
    /// open.
    case refusedProcess
    /// The harness of a durable store on a server provides ``StoreHarness/crashServer``.
    case serverCrash
    /// The harness of a store on a server provides ``StoreHarness/connectionFaults``.
    case connectionFaults
    /// The harness provides ``SpecialStores/openSmall``.
    case smallStore
    /// The harness provides ``SpecialStores/openConstrained``.
    case constrainedStore
    /// The harness provides ``SpecialStores/openWithApp``.
    case externalCommits
    /// The harness provides ``SpecialStores/makeNewer``.
    case newerFormat

    /// Returns why the rule does not apply to the store, or `nil` when it applies.
    func mismatch(with capabilities: StoreCapabilities, of harness: any StoreHarness) -> String? {
        let durable = StoreRequirement.declared(.durable)
        return switch self {
        case .declared(let power) where !power.isDeclared(by: capabilities):
            "The store does not declare \(power.declaration)."
        case .undeclared(let power) where power.isDeclared(by: capabilities):
            "The store declares \(power.declaration)."
        case .files where !harness.hasFilesAtPath: "The store has no files at its path."
        case .noFiles where harness.hasFilesAtPath, .connectionFaults where harness.hasFilesAtPath,
            .serverCrash where harness.hasFilesAtPath:
            "The store has files at its path."
        case .childProgram, .files, .serverCrash: durable.mismatch(with: capabilities, of: harness)
        case .otherProcess:
            StoreRequirement.declared(.multiProcess).mismatch(with: capabilities, of: harness)
        case .refusedProcess:
            StoreRequirement.undeclared(.multiProcess).mismatch(with: capabilities, of: harness)
                ?? durable.mismatch(with: capabilities, of: harness)
        case .smallStore where harness.specialStores.openSmall == nil:
            "The harness opens no small store; see SpecialStores.openSmall."
        case .constrainedStore where harness.specialStores.openConstrained == nil:
            "The harness opens no store with constraints; see SpecialStores.openConstrained."
        case .externalCommits where harness.specialStores.openWithApp == nil:
            "The harness opens no store beside an app that commits; see SpecialStores.openWithApp."
        case .newerFormat where harness.specialStores.makeNewer == nil:
            "The harness makes no stores of a newer format; see SpecialStores.makeNewer."
        default: nil
        }
    }

    /// Returns what the harness lacks to check the rule, or `nil` when the rule can be checked.
    func missingHook(of harness: any StoreHarness) -> String? {
        switch self {
        case .childProgram where harness.child == nil, .otherProcess where harness.child == nil,
            .refusedProcess where harness.child == nil:
            "child program; see StoreHarness.child"
        case .serverCrash where harness.crashServer == nil:
            "way to crash the server; see StoreHarness.crashServer"
        case .connectionFaults where harness.connectionFaults == nil:
            "connection faults; see StoreHarness.connectionFaults"
        default: nil
        }
    }

    /// The stores that the rule applies to.
    public var sentence: String {
        switch self {
        case .declared(let power): "Applies to stores that declare \(power.declaration)."
        case .undeclared(let power): "Applies to stores that do not declare \(power.declaration)."
        case .files: "Applies to durable stores with files at their path."
        case .noFiles: "Applies to stores without files at their path."
        case .childProgram: "Applies to durable stores whose harness provides a child program."
        case .otherProcess:
            "Applies to stores that declare \(StorePower.multiProcess.declaration), whose harness provides a child program."
        case .refusedProcess:
            "Applies to durable stores that do not declare \(StorePower.multiProcess.declaration), whose harness provides a "
                + "child program."
        case .serverCrash: "Applies to durable stores on a server that the harness can crash."
        case .connectionFaults: "Applies to stores on a server whose connections the harness can interrupt."
        case .smallStore: "Applies to stores that the harness can open with little space."
        case .constrainedStore:
            "Applies to stores in an app's own tables that the harness can open with a constraint."
        case .externalCommits: "Applies to stores that detect the commits of an app, which the harness makes."
        case .newerFormat: "Applies to stores whose format the harness can make newer."
        }
    }

    /// How an author declares an intended difference.
    var remedy: String {
        switch self {
        case .declared(let power): "do not declare \(power.declaration)"
        case .undeclared(let power): "declare \(power.declaration)"
        case .files: "return false from StoreHarness.hasFilesAtPath"
        case .noFiles, .connectionFaults: "return true from StoreHarness.hasFilesAtPath"
        case .refusedProcess: "declare \(StorePower.multiProcess.declaration)"
        case .otherProcess: "do not declare \(StorePower.multiProcess.declaration)"
        case .smallStore: "leave SpecialStores.openSmall nil"
        case .constrainedStore: "leave SpecialStores.openConstrained nil"
        case .externalCommits: "leave SpecialStores.openWithApp nil"
        case .newerFormat: "leave SpecialStores.makeNewer nil"
        case .childProgram, .serverCrash: "do not declare \(StorePower.durable.declaration)"
        }
    }
}
