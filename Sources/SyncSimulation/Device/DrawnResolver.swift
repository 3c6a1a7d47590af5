// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The resolvers of devices, and the record of what their decisions saw.
enum DrawnResolver {
    /// Returns a resolver that records its decisions; `nil` without a resolver.
    static func make(
        _ seed: UInt64, device: SimulatedDevice, app: SimulatedApp,
        log: @escaping @Sendable (String) -> Void,
        fail: @escaping @Sendable (SimulationFailure.Invariant, String) -> Void,
        expectsConflict: @escaping @Sendable (RowKey) -> Bool
    ) -> ConflictResolver? {
        var random = SimulationRandom(seed, device.number, SimulationRandom.Stream.resolver.rawValue)
        let choice = random.below(16)
        let drawn = resolver(choice, device)
        let counting = app.counter(seed: seed).map { Self.counting(in: $0.column) }
        let isFieldMerge = app.resolver == nil && counting == nil && [3, 4].contains(choice)
        // The others leave some conflicts pending.
        let isDeciding = counting != nil || ![5, 9].contains(choice)
        guard let rule = app.resolver ?? counting ?? drawn else { return nil }
        device.state.withLock { $0.hasDecidingResolver = app.resolver == nil && isDeciding }
        let history = device.history
        return ConflictResolver(combining: rule.combinedColumns) { conflict in
            let key = RowKey(table: conflict.operation.table, id: conflict.operation.itemID)
            if conflict.serverItem?.system.deleted != true, !expectsConflict(key) {
                fail(.falseConflict, "The resolver is called for \(key).")
            }
            let newest = conflict.clientItem.map(History.newestNumber(in:)) ?? history.lastNumber
            let decision = try await rule.resolve(conflict)
            log("\(device.name) resolver \(key): \(name(of: decision))")
            history.see(key, conflict.serverItem)
            switch decision {
            case .keepPending, .keepClient: break
            // A resolver cannot remove the only copy of an item.
            case .keepServer where conflict.serverItem == nil && conflict.operation.kind == .insert: break
            case .keepServer: history.overrule(key, upTo: newest)
            case .merge(let item):
                for (column, value) in conflict.clientItem?.fields ?? [:] where item.fields[column] != value {
                    history.overrule(key, upTo: newest, column: column)
                }
                history.overrule(where: { $0.key == key && $0.column == nil && $0.number <= newest })
                // The app's rule can change columns that exist on the device only.
                if app.resolver != nil { history.forgetLocalOnlyEdits { $0 == key } }
                if isFieldMerge, let lost = lostField(conflict, item) { fail(.lostEdit, lost) }
            }
            return decision
        }
    }

    private static func name(of decision: ConflictDecision) -> String {
        switch decision {
        case .keepServer: "keep server"
        case .keepClient: "keep client"
        case .merge(let item): "merge \(item.fields.sorted { $0.key < $1.key })"
        case .keepPending: "keep pending"
        }
    }

    /// Returns a field that one side changed alone, and that the three-way merge of fields does not keep.
    private static func lostField(_ conflict: Conflict, _ merged: Item) -> String? {
        guard let (client, server, base) = conflict.sides else { return nil }
        for name in Set(client.fields.keys).union(server.fields.keys).sorted() where name != "note" {
            // The server has changed the column to a value that it cannot hold, or from one.
            if [server, base].contains(where: { $0.system.undeclared[name]?.isNull == false }) { continue }
            let values = [client, server, base, merged].map { EditValue.number($0.fields[name]) }
            let kept = values[0] == values[2] ? values[1] : values[1] == values[2] ? values[0] : values[3]
            if values[3] != kept {
                return "A merge of fields loses '\(name)' of \(conflict.operation.itemID)."
            }
        }
        return nil
    }

    /// Returns a resolver that adds the counts of both sides, and keeps the device's other changes.
    private static func counting(in column: String) -> ConflictResolver {
        ConflictResolver(combining: [column]) { conflict in
            guard let client = conflict.clientItem, var merged = conflict.serverItem else {
                return .keepClient
            }
            let base = conflict.base?.fields ?? [:]
            for (name, value) in client.fields where value != base[name] { merged.fields[name] = value }
            func count(_ fields: [String: ItemValue]?) -> Int64 { EditValue.number(fields?[column]) ?? 0 }
            let counted = count(client.fields) - count(base)
            merged.fields[column] = .int(count(conflict.serverItem?.fields) + counted)
            return .merge(merged)
        }
    }

    private struct NoDecision: Error {}

    private static func resolver(_ choice: Int, _ device: SimulatedDevice) -> ConflictResolver? {
        let history = device.history
        switch choice {
        case 0: return .serverWins
        case 1: return .clientWins
        case 2: return .lastWriterWins
        case 3: return .fieldMerge(onClash: .serverWins)
        case 4: return .fieldMerge(onClash: .clientWins)
        case 5: return .keepPending
        case 6: return .deleteWins(otherwise: .clientWins)
        case 7: return .updateWins(otherwise: .serverWins)
        case 8:
            return ConflictResolver { conflict in
                guard var item = conflict.serverItem, !item.system.deleted, conflict.clientItem != nil else {
                    return .keepServer
                }
                item.fields["a"] = conflict.clientItem?.fields["a"]
                return .merge(item)
            }
        case 9:
            return ConflictResolver { conflict in
                switch history.nextNumber() % 4 {
                case 0: throw NoDecision()
                case 1: throw CancellationError()
                default: return .keepClient
                }
            }
        default: return nil
        }
    }
}

extension Conflict {
    /// The three items of a merge, if there are all.
    fileprivate var sides: (client: Item, server: Item, base: Item)? {
        guard let clientItem, let serverItem, let base, !serverItem.system.deleted else { return nil }
        return (clientItem, serverItem, base)
    }
}
