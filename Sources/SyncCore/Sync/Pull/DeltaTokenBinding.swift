// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Binds a delta token to what its pull requests: server, table, query and synced columns.
///
/// Another server or query selects other rows; a new column has no values in rows that were pulled before it. In both
/// cases the token is not used, and the pull starts over.
enum DeltaTokenBinding {
    /// Returns a text that is equal only for pulls that request the same: a 64-bit FNV-1a hash, short enough to be
    /// stored with every token.
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
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in parts.joined(separator: "\0").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return String(hash, radix: 16)
    }
}
