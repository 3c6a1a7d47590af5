// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Local writes in batches; each write stores an item and its operation.
enum LocalWrites {
    static func inBatches(_ scale: Scale, kind change: TableOperation.Kind) -> Benchmark {
        let (count, batch) = (scale.of(20_000), 1000)
        let originals = change == .insert ? [] : (0..<count).map { TodoRow(ordered: $0) }
        let todos = (0..<count).map { TodoRow(ordered: $0, generation: 1) }
        return Benchmark(
            name: "local-write.batch.\(change)", title: "\(change) \(count) items, \(batch) per transaction",
            count: count, unit: "item with its operation",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    try context.dataSource.write { try $0.upsert(originals.map(\.item), in: TodoRow.table) }
                    let writes = todos.map { (id: $0.id, fields: $0.fields) }
                    try await trial.measure {
                        for start in stride(from: 0, to: count, by: batch) {
                            try await context.context.batch { local in
                                for (id, fields) in writes[start..<start + batch] {
                                    try local.write(change, id: id, fields)
                                }
                            }
                        }
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.localWrites(todos, batch: batch, kind: change, over: originals) + [
                PeerDatabase.localWrites(todos, batch: batch, kind: change, over: originals)
            ],
            lines: StoreKind.allCases.map { kind in
                ReportLine(
                    kind.rawValue, floor: kind.floorName, peer: "peer", goals: [.ofFloor(0.7), .ofPeer(1.5)])
            })
    }
}

extension LocalBatch {
    func write(_ kind: TableOperation.Kind, id: String, _ fields: [String: ItemValue]) throws {
        switch kind {
        case .insert:
            var fields = fields
            fields["id"] = .text(id)
            try insert(fields, in: TodoRow.table)
        case .update: try update(id: id, fields, in: TodoRow.table)
        case .delete: try delete(id: id, in: TodoRow.table)
        }
    }
}
