// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension PullPages {
    /// How the pages are to follow each other.
    var order: PullCursor.Order {
        if queryID != nil { return settings.strategy == .keyset ? .keyset : .skip }
        return query.orderings.isEmpty && query.offset == 0 ? .id : .offset
    }

    /// Checks what the caller asks for, before anything is sent.
    func validate(_ definition: TableDefinition) throws(SyncError) {
        try settings.validate()
        try query.validate(against: definition)
        guard query.selection.isEmpty, !query.includesTotalCount else {
            throw .invalidParameter(
                "A pull stores whole items: it takes neither a selection nor a total count.")
        }
        for name in query.parameters.keys { try RemoteCall.validate(parameter: name) }
        for column in definition.columns where column.isLocalOnly && query.mentions(column.name) {
            throw SyncError(
                .filterNotSupported, "The server does not know the local-only column '\(column.name)'.")
        }
        guard let queryID else { return }
        let isValidID =
            !queryID.isEmpty && queryID.unicodeScalars.count <= 255
            && !queryID.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isValidID else {
            throw SyncError(
                .invalidQueryID, "A query ID has 1 to 255 characters, and no control characters.")
        }
        guard query.orderings.isEmpty, query.offset == 0, query.limit == nil else {
            throw .invalidParameter("A pull with a query ID takes no order, offset or limit: it has its own.")
        }
    }
}

extension TableQuery {
    /// A text that two queries share only when they ask the server for the same rows.
    ///
    /// A 64-bit FNV-1a hash of the query as OData: short enough to be stored with every token.
    func identity(_ dialect: WireDialect) throws(SyncError) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var parts = try odata(dialect).flatMap { [$0.name, $0.value] }
        for (name, value) in parameters.sorted(by: { $0.key.precedesInBytes($1.key) }) {
            parts += [name, value]
        }
        for byte in parts.joined(separator: "\0").utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return String(hash, radix: 16)
    }

    /// Whether filter or order use the column.
    fileprivate func mentions(_ column: String) -> Bool {
        (filter?.columns.contains(column) ?? false)
            || orderings.contains { $0.expression.columns.contains(column) }
    }
}
