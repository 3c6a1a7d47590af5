// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The resolvers of devices, and the record of what their decisions saw.
enum DrawnResolver {
    /// Returns a resolver that records its decisions; `nil` without a resolver.
    static func make(
        _ seed: UInt64, device: SimulatedDevice, app: SimulatedApp, log: @escaping @Sendable (String) -> Void
    ) -> ConflictResolver? {
        var random = SimulationRandom(seed, device.number, SimulationRandom.Stream.resolver.rawValue)
        guard let rule = app.resolver ?? draw(&random, device) else { return nil }
        let history = device.history
        return ConflictResolver { conflict in
            let key = RowKey(table: conflict.operation.table, id: conflict.operation.itemID)
            let newest = conflict.clientItem.map(History.newestNumber(in:)) ?? history.lastNumber
            let decision = try await rule.resolve(conflict)
            log("\(device.name) resolver \(key): \(name(of: decision))")
            history.see(key, conflict.serverItem)
            switch decision {
            case .keepPending, .keepClient: break
            case .keepServer, .merge: history.overrule(key, upTo: newest)
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

    private struct NoDecision: Error {}

    private static func draw(_ random: inout SimulationRandom, _ device: SimulatedDevice) -> ConflictResolver?
    {
        let history = device.history
        switch random.below(12) {
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
                if history.nextNumber() % 3 != 0 { throw NoDecision() }
                return .keepClient
            }
        default: return nil
        }
    }
}
