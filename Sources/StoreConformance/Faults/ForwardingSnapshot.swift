// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// A snapshot that forwards every read to another snapshot.
package protocol ForwardingSnapshot: StoreSnapshot {
    /// The snapshot to read from; throws in place of the read.
    var snapshot: any StoreSnapshot { get throws }
}

extension ForwardingSnapshot {
    package func item(id: String, in table: String) throws -> Item? { try snapshot.item(id: id, in: table) }

    package func items(matching query: TableQuery) throws -> QueryResult {
        try snapshot.items(matching: query)
    }

    package func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        try snapshot.forEachRow(matching: query, columns: columns, body)
    }

    package func operation(id: Int64) throws -> TableOperation? { try snapshot.operation(id: id) }

    package func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try snapshot.operations(after: id, in: table, limit: limit)
    }

    package func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try snapshot.operations(forItem: itemID, in: table)
    }

    package func operationCount(in table: String?) throws -> Int { try snapshot.operationCount(in: table) }

    package func operationError(operationID: Int64) throws -> TableOperationError? {
        try snapshot.operationError(operationID: operationID)
    }

    package func operationErrors(in table: String?) throws -> [TableOperationError] {
        try snapshot.operationErrors(in: table)
    }

    package func configValue(_ key: ConfigKey) throws -> String? { try snapshot.configValue(key) }

    package func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(
        key: ConfigKey, value: String
    )] {
        try snapshot.configValues(in: table, kind: kind)
    }
}
