// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One request for a table of the server, independent of the dialect.
package struct RemoteCall: Sendable {
    /// What the request does.
    package enum Action: Sendable {
        /// Create a row; without an id, the server generates one.
        case insert(id: String?, fields: [String: ItemValue])
        /// Change a row; with a version, only if the row has that version.
        case update(id: String, fields: [String: ItemValue], version: String?)
        /// Delete a row; with a version, only if the row has that version.
        case delete(id: String, version: String?)
        /// Restore a deleted row; dialects whose updates replace the whole row send the fields.
        case undelete(id: String, fields: [String: ItemValue], version: String?)
        /// Read a row.
        case read(id: String)
        /// Read a list of rows with the options of a query: see ``TableQuery/odata(_:)``.
        case query([QueryParameter], includesDeleted: Bool)
        /// Wait for a change of the table or others after a mark of the change feed, at most the given number of seconds.
        case changes(others: [String], after: String?, wait: Int)
    }

    /// The features of the client in `X-ZUMO-FEATURES`.
    package struct Features: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The request belongs to offline sync.
        package static let offline = Features(rawValue: 1)
        /// The request belongs to an incremental pull.
        package static let incrementalPull = Features(rawValue: 2)

        var header: String? {
            switch self {
            case .offline: "OL"
            case .incrementalPull: "IP"
            case [.offline, .incrementalPull]: "OL,IP"
            default: nil
            }
        }
    }

    package let table: String
    package let action: Action
    /// The app's parameters.
    package let parameters: [String: String]
    package let features: Features

    package init(
        _ action: Action, table: String, parameters: [String: String] = [:], features: Features = []
    ) {
        self.action = action
        self.table = table
        self.parameters = parameters
        self.features = features
    }

    /// The id of the row; `nil` for queries, and for inserts without an id.
    package var itemID: String? {
        switch action {
        case .insert(let id, _): id
        case .update(let id, _, _), .delete(let id, _), .undelete(let id, _, _), .read(let id): id
        case .query, .changes: nil
        }
    }
}

extension RemoteCall {
    /// The kind of the request.
    var kind: SyncEvent.RequestKind {
        switch action {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        case .undelete: .undelete
        case .read: .read
        case .query, .changes: .query
        }
    }
}
