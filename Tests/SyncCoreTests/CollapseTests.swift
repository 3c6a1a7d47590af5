// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// The collapse tables, cell by cell.
@Suite struct CollapseTests {
    typealias Kind = TableOperation.Kind

    /// An operation with a value in every property that collapsing may change.
    private func operation(_ kind: Kind, id: Int64 = 7, isAmbiguous: Bool = false) -> TableOperation {
        TableOperation(
            id: id, table: "T", itemID: "x", kind: kind, state: isAmbiguous ? .attempted : .pending,
            revision: 3, refusals: 2, lastStatus: 400, base: kind == .insert ? nil : Self.base,
            version: kind == .insert ? nil : "v1", deletedItem: kind == .delete ? Self.base : nil,
            sent: isAmbiguous ? Self.snapshot(kind) : nil)
    }

    private static let base = Item(id: "x", fields: ["a": 1], system: SystemProperties(version: "v1"))

    private static func snapshot(_ kind: Kind) -> TableOperation.SentSnapshot {
        TableOperation.SentSnapshot(kind: kind, fields: kind == .delete ? [:] : ["a": 2], version: "v1")
    }

    private func collapse(
        _ change: Kind, into operations: TableOperation..., isInFlight: Bool = false
    ) -> CollapseOutcome {
        TableOperation.collapse(change, into: operations, isInFlight: isInFlight)
    }

    /// The operation that remains, at its queue position.
    private func replaced(_ outcome: CollapseOutcome) -> TableOperation? {
        guard case .replace(let operation) = outcome else { return nil }
        return operation
    }

    private func isRefused(_ outcome: CollapseOutcome, _ code: SyncError.Code) -> Bool {
        guard case .refuse(code, _) = outcome else { return false }
        return true
    }

    @Test(arguments: Kind.allCases) func `without a pending operation, a change becomes an operation`(
        _ kind: Kind
    ) {
        #expect(TableOperation.collapse(kind, into: [], isInFlight: false) == .append(kind))
        #expect(TableOperation.collapse(kind, into: [], isInFlight: true) == .append(kind))
    }

    // MARK: Never sent

    @Test func `insert, insert is refused`() {
        #expect(isRefused(collapse(.insert, into: operation(.insert)), .invalidOperation))
    }

    @Test func `insert, update stays an insert`() throws {
        let merged = try #require(replaced(collapse(.update, into: operation(.insert))))
        #expect(merged.kind == .insert)
        #expect(merged.id == 7)
        #expect(merged.version == nil)
        #expect(merged.state == .pending)
    }

    @Test func `insert, delete removes the operation`() {
        #expect(collapse(.delete, into: operation(.insert)) == .remove(id: 7))
    }

    @Test func `update, insert is refused`() {
        #expect(isRefused(collapse(.insert, into: operation(.update)), .invalidOperation))
    }

    @Test func `update, update keeps the first base and version`() throws {
        let merged = try #require(replaced(collapse(.update, into: operation(.update))))
        #expect(merged.kind == .update)
        #expect(merged.base == Self.base)
        #expect(merged.version == "v1")
    }

    @Test func `update, delete becomes a delete at the same queue position with the same version`() throws {
        let merged = try #require(replaced(collapse(.delete, into: operation(.update))))
        #expect(merged.kind == .delete)
        #expect(merged.id == 7)
        #expect(merged.base == Self.base)
        #expect(merged.version == "v1")
        #expect(!merged.replaces)
    }

    @Test func `delete, insert becomes an update that replaces`() throws {
        let merged = try #require(replaced(collapse(.insert, into: operation(.delete))))
        #expect(merged.kind == .update)
        #expect(merged.replaces)
        #expect(merged.deletedItem == nil)
        #expect(merged.version == "v1")
    }

    @Test func `delete, update is refused`() {
        #expect(isRefused(collapse(.update, into: operation(.delete)), .itemNotFound))
    }

    @Test func `delete, delete changes nothing`() {
        #expect(collapse(.delete, into: operation(.delete)) == .nothing)
    }

    @Test func `an update that replaces the item still does after an edit, but not after a delete`() throws {
        var replacing = operation(.update)
        replacing.replaces = true
        #expect(try #require(replaced(collapse(.update, into: replacing))).replaces)
        #expect(try !#require(replaced(collapse(.delete, into: replacing))).replaces)
    }

    @Test func `every edit increases the revision, resets the attempts and makes parked operations pending`()
        throws
    {
        for (kind, change) in [
            (Kind.insert, Kind.update), (.update, .update), (.update, .delete), (.delete, .insert),
        ] {
            var parked = operation(kind)
            parked.state = .parked
            let merged = try #require(replaced(collapse(change, into: parked)))
            #expect(merged.revision == 4)
            #expect(merged.refusals == 0)
            #expect(merged.state == .pending)
        }
    }

    // MARK: Outcome unknown

    @Test func `ambiguous insert, update stays an insert and keeps what was sent`() throws {
        let merged = try #require(replaced(collapse(.update, into: operation(.insert, isAmbiguous: true))))
        #expect(merged.kind == .insert)
        #expect(merged.sent == Self.snapshot(.insert))
        #expect(merged.state == .attempted)
    }

    @Test func `ambiguous insert, delete becomes a delete and is never removed`() throws {
        let merged = try #require(replaced(collapse(.delete, into: operation(.insert, isAmbiguous: true))))
        #expect(merged.kind == .delete)
        #expect(merged.sent == Self.snapshot(.insert))
    }

    @Test func `ambiguous update, update or delete keeps what was sent`() throws {
        for change in [Kind.update, .delete] {
            let merged = try #require(replaced(collapse(change, into: operation(.update, isAmbiguous: true))))
            #expect(merged.kind == change)
            #expect(merged.sent == Self.snapshot(.update))
        }
    }

    @Test func `ambiguous delete, insert queues the insert behind it`() {
        #expect(collapse(.insert, into: operation(.delete, isAmbiguous: true)) == .append(.insert))
    }

    @Test func `ambiguous delete, delete changes nothing, and update is refused`() {
        #expect(collapse(.delete, into: operation(.delete, isAmbiguous: true)) == .nothing)
        #expect(isRefused(collapse(.update, into: operation(.delete, isAmbiguous: true)), .itemNotFound))
    }

    @Test func `ambiguous insert or update, insert is refused`() {
        for kind in [Kind.insert, .update] {
            let outcome = collapse(.insert, into: operation(kind, isAmbiguous: true))
            #expect(isRefused(outcome, .invalidOperation))
        }
    }

    // MARK: In flight

    @Test func `in flight, every valid change is queued behind`() {
        for (kind, change) in [
            (Kind.insert, Kind.update), (.insert, .delete), (.update, .update), (.update, .delete),
            (.delete, .insert),
        ] {
            for isAmbiguous in [true, false] {
                let inFlight = operation(kind, isAmbiguous: isAmbiguous)
                #expect(collapse(change, into: inFlight, isInFlight: true) == .append(change))
            }
        }
    }

    @Test func `in flight, invalid changes are refused and a second delete changes nothing`() {
        for kind in [Kind.insert, .update] {
            #expect(isRefused(collapse(.insert, into: operation(kind), isInFlight: true), .invalidOperation))
        }
        #expect(isRefused(collapse(.update, into: operation(.delete), isInFlight: true), .itemNotFound))
        #expect(collapse(.delete, into: operation(.delete), isInFlight: true) == .nothing)
    }

    @Test func `further changes collapse into the operation behind, not into the one in flight`() throws {
        let inFlight = operation(.update, isAmbiguous: true)
        let outcome = collapse(.update, into: inFlight, operation(.update, id: 9), isInFlight: true)
        #expect(try #require(replaced(outcome)).id == 9)
        #expect(
            collapse(.delete, into: operation(.delete), operation(.insert, id: 9), isInFlight: true)
                == .remove(id: 9))
        let deleted = collapse(.delete, into: inFlight, operation(.update, id: 9), isInFlight: true)
        #expect(try #require(replaced(deleted)).kind == .delete)
        let again = collapse(.insert, into: inFlight, operation(.delete, id: 9), isInFlight: true)
        #expect(try #require(replaced(again)).replaces)
    }

    // MARK: After failure

    @Test func `a failed operation merges with the operation behind it by the same tables`() throws {
        func merge(_ failed: TableOperation, _ behind: Kind) -> CollapseOutcome {
            TableOperation.merge(failed, with: operation(behind, id: 9))
        }
        #expect(try #require(replaced(merge(operation(.insert), .update))).kind == .insert)
        #expect(merge(operation(.insert), .delete) == .remove(id: 7))
        #expect(try #require(replaced(merge(operation(.update), .update))).id == 7)
        let deleted = try #require(replaced(merge(operation(.update), .delete)))
        #expect(deleted.kind == .delete)
        #expect(deleted.deletedItem == Self.base)
        let replacing = try #require(replaced(merge(operation(.delete), .insert)))
        #expect(replacing.kind == .update)
        #expect(replacing.replaces)
    }

    @Test func `an operation that failed with unknown outcome merges as attempted`() throws {
        func merge(_ failed: Kind, _ behind: Kind) -> CollapseOutcome {
            TableOperation.merge(operation(failed, isAmbiguous: true), with: operation(behind, id: 9))
        }
        #expect(try #require(replaced(merge(.insert, .delete))).kind == .delete)
        #expect(try #require(replaced(merge(.insert, .update))).sent == Self.snapshot(.insert))
        #expect(try #require(replaced(merge(.update, .delete))).sent == Self.snapshot(.update))
        #expect(merge(.delete, .insert) == .append(.insert))
    }

    @Test func `a replacing update behind a failed update still replaces`() throws {
        var behind = operation(.update, id: 9)
        behind.replaces = true
        let merged = try #require(replaced(TableOperation.merge(operation(.update), with: behind)))
        #expect(merged.replaces)
    }
}
