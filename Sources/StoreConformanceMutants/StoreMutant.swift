// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

/// A store that is broken on purpose in one way, to prove that a rule notices.
public struct StoreMutant: Sendable, Identifiable {
    /// The mutant's name within all mutants.
    public let id: String
    /// What sort of thing it does wrong.
    public let kind: Kind
    /// What it does wrong.
    public let flaw: String
    /// The rules that must notice, the one that is about it first.
    public let killers: [String]
    /// What the message of the first rule's failure must contain.
    public let message: String
    /// Whether it is built on a store that keeps what it is told in files.
    public let needsDurableStore: Bool
    let build: @Sendable (inout StoreFlaw) -> Void

    /// What sort of thing a mutant does wrong.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case read, write, types, query, order, delete, transaction, queue, log, config, lifecycle, opening,
            durability, concurrency, errors, isolation, capability
        /// Nothing: the store is odd, and keeps the contract all the same.
        case legal
    }

    init(
        _ kind: Kind, _ name: String, _ flaw: String, killedBy killers: String..., saying message: String,
        needsDurableStore: Bool = false, _ build: @escaping @Sendable (inout StoreFlaw) -> Void
    ) {
        self.init(
            kind, name, flaw, killers: killers, saying: message, needsDurableStore: needsDurableStore, build)
    }

    init(
        _ kind: Kind, _ name: String, _ flaw: String, killers: [String], saying message: String,
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

    /// Whether a script of calls on one thread can show the flaw.
    public var isSemantic: Bool {
        ![.lifecycle, .opening, .durability, .concurrency, .capability, .isolation, .legal].contains(kind)
    }

    /// The mutant of that id.
    public static func named(_ id: String) -> StoreMutant? { (all + variants).first { $0.id == id } }
}

extension StoreMutant: CustomStringConvertible {
    /// The id, so that test output names the mutant.
    public var description: String { id }
}

extension StoreMutant {
    /// Every broken store.
    public static let all: [StoreMutant] =
        [
            reads, writes, insertions, types, comparisons, constants, expressions, windows, orders, deletions,
            transactions, queues,
            logs,
            configs, lifecycles, openings, columnChanges, durabilities, concurrencies, errors, isolations,
            capabilities,
        ]
        .flatMap { $0 }
}

/// Lists mutants one after another, each a statement of its own.
@resultBuilder
enum MutantList {
    static func buildExpression(_ mutant: StoreMutant) -> [StoreMutant] { [mutant] }
    static func buildBlock(_ mutants: [StoreMutant]...) -> [StoreMutant] { mutants.flatMap { $0 } }
}
