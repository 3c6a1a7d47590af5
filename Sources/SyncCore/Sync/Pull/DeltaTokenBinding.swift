// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Binds a delta token to what its pull requests: server, table, query and synced columns.
///
/// Another server or query selects other rows; a new column has no values in rows that were pulled before it. In both
/// cases the token is not used, and the pull starts over.
enum DeltaTokenBinding {
    /// Returns a text that is equal only for pulls that request the same: a hash, short enough to be stored
    /// with every token.
    static func text(
        query: TableQuery, definition: SyncTableDefinition, server: ServerIdentity, dialect: WireDialect
    ) throws(SyncError) -> String {
        var parts = [server.text, dialect.name, query.table]
        for option in try query.odata(dialect) { parts += [option.name, option.value] }
        for (name, value) in query.parameters.sorted(by: { $0.key.precedesInBytes($1.key) }) {
            parts += [name, value]
        }
        for column in definition.syncedColumns.sorted(by: { $0.name.precedesInBytes($1.name) }) {
            parts += [column.name, column.type.rawValue]
        }
        return String(FNV1a.hash(parts.joined(separator: "\0").utf8), radix: 16)
    }
}
