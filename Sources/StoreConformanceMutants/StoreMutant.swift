// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

/// A store with one deliberate flaw, which proves that a rule detects it.
public struct StoreMutant: Sendable, Identifiable {
    /// The unique id of the mutant.
    public let id: String
    /// The kind of the flaw.
    public let kind: Kind
    /// A description of the flaw.
    public let flaw: String
    /// The ids of the rules that must detect the flaw, the most specific first.
    public let killers: [String]
    /// A part of the failure message of the first rule.
    public let message: String
    /// Whether the mutant requires a durable base store.
    public let needsDurableStore: Bool
    let build: @Sendable (inout StoreFlaw) -> Void

    /// The kind of a flaw.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A flaw in what the name of the case says.
        case read, write, types, query, order, delete, transaction, queue, log, config, lifecycle, opening,
            durability, concurrency, connection, errors, isolation, capability
        /// No flaw: the store is unusual, but conforms to the contract.
        case legal
    }

    init(
        _ kind: Kind, _ name: String, _ flaw: String, killedBy killers: String..., message: String,
        needsDurableStore: Bool = false, _ build: @escaping @Sendable (inout StoreFlaw) -> Void
    ) {
        self.init(
            kind, name, flaw, killers: killers, message: message, needsDurableStore: needsDurableStore, build)
    }

    init(
        _ kind: Kind, _ name: String, _ flaw: String, killers: [String], message: String,
        needsDurableStore: Bool = false, _ build: @escaping @Sendable (inout StoreFlaw) -> Void
    ) {
        id = "\(kind.rawValue).\(name)"
        self.kind = kind
        self.flaw = flaw
        self.killers = killers
        self.message = message
        self.needsDurableStore = needsDurableStore
        self.build = build
    }

    /// Whether a script of calls on one thread can detect the flaw.
    public var isSemantic: Bool {
        ![.lifecycle, .opening, .durability, .concurrency, .connection, .capability, .isolation, .legal]
            .contains(kind)
    }

    /// The mutant of that id.
    public static func named(_ id: String) -> StoreMutant? { (all + variants).first { $0.id == id } }
}

extension StoreMutant: CustomStringConvertible {
    /// The id, so that test output names the mutant.
    public var description: String { id }
}

extension StoreMutant {
    /// All mutants.
    public static let all: [StoreMutant] =
        [
            reads, writes, insertions, types, comparisons, constants, expressions, windows, rows, orders,
            deletions,
            transactions, queues,
            logs,
            configs, lifecycles, openings, openingFiles, columnChanges, columnDeclarations, durabilities,
            concurrencies,
            connections, errors,
            isolations, capabilities, sharing,
            indexes, sizes, closing, locks, leaks,
            processes, sharedCaches, reopenings, visibilities,
            sharedStamps, sharedReads, sharedColumns, sharedOpenings, sharedProcesses,
            specialCases,
        ]
        .flatMap { $0 }
}

/// Builds a list of mutants from statements.
@resultBuilder
enum MutantList {
    static func buildExpression(_ mutant: StoreMutant) -> [StoreMutant] { [mutant] }
    static func buildBlock(_ mutants: [StoreMutant]...) -> [StoreMutant] { mutants.flatMap { $0 } }
}
