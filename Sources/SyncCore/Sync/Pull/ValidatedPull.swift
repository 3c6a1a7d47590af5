// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A pull whose query, query ID and settings are valid. It is made before anything is sent.
struct ValidatedPull: Sendable {
    let query: TableQuery
    let definition: SyncTableDefinition
    let settings: PullSettings
    /// How the pages follow each other.
    let order: PullCursor.Order
    /// Where the delta token is stored; `nil` for a pull without query ID.
    let tokenKey: ConfigKey?
    /// What the delta token is bound to: see ``DeltaTokenBinding``.
    let binding: String

    /// Validates a pull.
    ///
    /// - Throws: as ``SyncContext/pull(_:queryID:settings:)`` before anything is sent.
    init(
        _ query: TableQuery, queryID: String?, settings: PullSettings, in context: SyncContext
    ) throws(SyncError) {
        definition = try context.definition(of: query.table)
        try settings.validate()
        try query.validateForPull(definition)
        if let queryID {
            try Self.validate(queryID: queryID)
            try query.requireFilterOnly("A pull with a query ID")
            order = settings.strategy == .keyset ? .keyset : .skip
            tokenKey = ConfigKey(table: definition.name, kind: .deltaToken, name: queryID)
        } else {
            let isWindow = query.offset != 0 || query.limit != nil && !query.orderings.isEmpty
            order = isWindow ? .offset : .id
            tokenKey = nil
        }
        // The order decides which rows a window has. Without one, pages by id miss no row while others change.
        self.query = order == .offset ? query : query.with { $0.orderings = [] }
        self.settings = settings
        binding = try DeltaTokenBinding.text(
            query: query, definition: definition, server: ServerIdentity(context.client.url),
            dialect: context.client.dialect)
    }

    private static func validate(queryID: String) throws(SyncError) {
        let isValid =
            !queryID.isEmpty && queryID.unicodeScalars.count <= 255
            && !queryID.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isValid else {
            throw SyncError(
                .invalidQueryID, "A query ID must have 1 to 255 characters, and no control characters.")
        }
    }
}

extension PullSettings {
    fileprivate func validate() throws(SyncError) {
        guard (1...1000).contains(pageSize) else {
            throw .invalidParameter("The page size is \(pageSize); it must be from 1 to 1000.")
        }
        guard overlap >= .zero else { throw .invalidParameter("The overlap of a pull must not be negative.") }
    }
}

extension TableQuery {
    /// Checks that the query selects whole rows, and that the server can evaluate it.
    fileprivate func validateForPull(_ definition: SyncTableDefinition) throws(SyncError) {
        try validate(against: definition)
        guard selection.isEmpty, !includesTotalCount else {
            throw .invalidParameter(
                "A pull stores whole items; its query must have neither a selection nor a total count.")
        }
        for name in parameters.keys { try RemoteCall.validate(parameter: name) }
        try requireSyncedColumns(definition)
    }

    /// Checks that the query has no order, offset or limit.
    func requireFilterOnly(_ user: String) throws(SyncError) {
        guard orderings.isEmpty, offset == 0, limit == nil else {
            throw .invalidParameter(
                "\(user) orders the rows itself; its query must have no order, offset or limit.")
        }
    }
}
