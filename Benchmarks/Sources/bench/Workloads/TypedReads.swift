// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import SyncModels

/// Reads of items as values of the app's types.
enum TypedReads {
    /// Reads every item of the table as a model, as an item, and as a record of the peer.
    static func all(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let total = scale.of(100_000)
        let stores = FilledStores(count: total, directory: directory)
        let peer = stores.peer(isIndexed: false)
        let contexts = StoreKind.allCases.map { ($0, stores.context($0, isIndexed: false)) }
        return Benchmark(
            name: "read.typed", title: "Read all \(total) items as models", count: total, unit: "item",
            contenders: contexts.map { kind, context in
                Contender(kind.rawValue) { trial in
                    let table = try await context.value().context.table(TodoModel.self)
                    return try await trial.measure {
                        try await table.fetch().reduce(0) { $0 + $1.priority }
                    }
                }
            }
                + contexts.map { kind, context in
                    Contender(untypedName(kind)) { trial in
                        let table = try await context.value().table(TodoRow.table)
                        return try await trial.measure {
                            try await table.items().reduce(0) { $0 + Int($1["priority"]?.intValue ?? 0) }
                        }
                    }
                } + [
                    Contender("peer") { trial in
                        let peer = try await peer.value()
                        return try await trial.measure {
                            try await peer.pool.read { database in
                                try ItemRecord.order(Column("id")).fetchAll(database)
                                    .reduce(0) { $0 + $1.priority }
                            }
                        }
                    },
                    Contender("peer, decoding by hand") { trial in
                        let peer = try await peer.value()
                        return try await trial.measure {
                            try await peer.pool.read { database in
                                try PlainRecord.order(Column("id")).fetchAll(database)
                                    .reduce(0) { $0 + $1.priority }
                            }
                        }
                    },
                ],
            lines: StoreKind.allCases.map { kind in
                ReportLine(kind.rawValue, peer: "peer", goals: [.atMost(1.3, times: untypedName(kind))])
            }, maxRounds: 3)
    }

    private static func untypedName(_ kind: StoreKind) -> String { "\(kind.rawValue) as items" }
}

/// The row of the benchmarks as a model.
private struct TodoModel: SyncModel {
    var id = SyncID<TodoModel>()
    var title = "", note = "", complete = false, priority = 0, price = 0.0, due: Date?

    static let schema = ModelSchema(
        TodoRow.table, TodoModel(), .field("title", \.title), .field("note", \.note),
        .field("complete", \.complete), .field("priority", \.priority), .field("price", \.price),
        .field("due", \.due))
}

/// An item in the peer's database, decoded without Codable.
private struct PlainRecord: FetchableRecord, TableRecord {
    static let databaseTableName = ItemRecord.databaseTableName

    let id: String, title: String, note: String, complete: Bool, priority: Int, price: Double, due: String
    let createdAt: String?, updatedAt: String?, version: String?

    init(row: Row) {
        id = row["id"]
        title = row["title"]
        note = row["note"]
        complete = row["complete"]
        priority = row["priority"]
        price = row["price"]
        due = row["due"]
        createdAt = row["createdAt"]
        updatedAt = row["updatedAt"]
        version = row["version"]
    }
}
