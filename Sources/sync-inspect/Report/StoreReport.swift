// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// What the program prints. The names of the properties are the keys of the JSON, which the article *Inspecting a store*
/// documents.
struct StoreReport: Encodable {
    let file: String
    let format: StoreState.Format
    let formatVersion: Int
    let tables: [Table]
    let operations: [Operation]
    /// Errors of operations that are no longer pending.
    let otherErrors: [OperationError]
    let deltaTokens: [Token]
    let nextPush: Push

    struct Table: Encodable {
        let name: String
        let rows: Int
        let pendingOperations: Int
        let parents: [String]
    }

    struct Operation: Encodable {
        let id: Int64
        let table: String
        let itemID: String
        let kind: String
        let state: String
        let changedFields: [String]
        let changedAt: String?
        let lastAttempt: String?
        let lastStatus: Int?
        let refusals: Int
        let revision: Int
        /// The version that the change was made on.
        let version: String?
        /// The server's row, if a pull has received a newer one.
        let server: ServerRow?
        /// The content of the attempt whose outcome is unknown.
        let sent: Sent?
        let operationsBehind: [Int64]
        let error: OperationError?
        /// The item as it is stored; for a delete, as it was.
        let values: [String: FieldJSON]?
    }

    struct Sent: Encodable {
        let kind: String
        let fields: [String]
        let version: String?
        let values: [String: FieldJSON]?
    }

    struct ServerRow: Encodable {
        let version: String?
        let isDeleted: Bool
        let values: [String: FieldJSON]?
    }

    struct OperationError: Encodable {
        let operation: Int64
        let code: Int
        let name: String?
        let status: Int?
        let message: String
        let isConflict: Bool
        let server: ServerRow?
    }

    struct Token: Encodable {
        let table: String
        let queryID: String
        let updatedAt: String
        let id: String
        let instant: String
        let isFirstPull: Bool
    }

    struct Push: Encodable {
        let dialect: String
        let requests: [Request]
        let notSent: [UnsentOperation]
    }

    struct Request: Encodable {
        let number: Int
        let operation: Int64
        let method: String
        let path: String
        let ifMatch: String?
        let ifMatchOfRequest: Int?
        let fields: [String]
        let values: [String: FieldJSON]?
    }

    /// The report as one JSON object.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        }
    }
}
