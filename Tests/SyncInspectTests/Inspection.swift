// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Subprocess
import TestSupport
import Testing

/// A run of the built `sync-inspect` program.
struct Inspection {
    let status: Int32
    let output: String
    let errors: String

    /// Runs the program until it ends.
    static func run(_ arguments: String...) async throws -> Inspection {
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments([try builtProgram("sync-inspect").path] + arguments),
            output: .string(limit: 1 << 22), error: .string(limit: 1 << 20))
        let status: Int32? = if case .exited(let code) = result.terminationStatus { code } else { nil }
        return Inspection(
            status: try #require(status), output: result.standardOutput, errors: result.standardError)
    }

    /// Returns the text that the program prints about a file.
    static func text(of path: String, _ options: String...) async throws -> String {
        let run = try await run(path, options.first ?? "--dialect=v2")
        try #require(run.status == 0, "\(run.errors)")
        return run.output
    }

    /// Returns what the program prints about a file as JSON.
    static func report(of path: String) async throws -> Report {
        let run = try await run(path, "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
    }
}

/// The JSON report, with the documented keys.
struct Report: Decodable {
    let file: String
    let format: String
    let formatVersion: Int
    let tables: [Table]
    let operations: [Operation]
    let otherErrors: [OperationError]
    let deltaTokens: [Token]
    let nextPush: Push

    struct Table: Decodable, Hashable {
        let name: String
        let rows: Int
        let pendingOperations: Int
        let parents: [String]
    }

    struct Operation: Decodable {
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
        let version: String?
        let server: ServerRow?
        let sent: Sent?
        let operationsBehind: [Int64]
        let error: OperationError?
        let values: [String: String]?
    }

    struct Sent: Decodable {
        let kind: String
        let fields: [String]
        let version: String?
    }

    struct ServerRow: Decodable {
        let version: String?
        let isDeleted: Bool
    }

    struct OperationError: Decodable {
        let operation: Int64
        let code: Int
        let name: String?
        let status: Int?
        let message: String
        let isConflict: Bool
        let server: ServerRow?
    }

    struct Token: Decodable {
        let table: String
        let queryID: String
        let updatedAt: String
        let id: String
        let instant: String
        let isFirstPull: Bool
    }

    struct Push: Decodable {
        let dialect: String
        let requests: [Request]
        let notSent: [Unsent]
    }

    struct Request: Decodable {
        let number: Int
        let operation: Int64
        let method: String
        let path: String
        let ifMatch: String?
        let ifMatchOfRequest: Int?
        let fields: [String]
    }

    struct Unsent: Decodable {
        let operation: Int64
        let reason: String
        let explanation: String
    }
}
