// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension PullPages {
    /// How the pages are to follow each other.
    var order: PullCursor.Order {
        if queryID != nil { return settings.strategy == .keyset ? .keyset : .skip }
        return query.orderings.isEmpty && query.offset == 0 ? .id : .offset
    }

    /// Checks what the caller asks for, before anything is sent.
    func validate(_ definition: SyncTableDefinition) throws(SyncError) {
        try settings.validate()
        try query.validateForPull(definition)
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
    /// Checks that whole rows of the server can be asked for with this query.
    func validateForPull(_ definition: SyncTableDefinition) throws(SyncError) {
        try validate(against: definition)
        guard selection.isEmpty, !includesTotalCount else {
            throw .invalidParameter(
                "A pull stores whole items: it takes neither a selection nor a total count.")
        }
        for name in parameters.keys { try RemoteCall.validate(parameter: name) }
        for column in definition.columns where column.isLocalOnly && mentions(column.name) {
            throw SyncError(
                .filterNotSupported, "The server does not know the local-only column '\(column.name)'.")
        }
    }

    /// Whether filter or order use the column.
    fileprivate func mentions(_ column: String) -> Bool {
        (filter?.columns.contains(column) ?? false)
            || orderings.contains { $0.expression.columns.contains(column) }
    }
}
