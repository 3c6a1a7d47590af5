// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import TableServer
import TableServerPostgreSQL
import Testing

/// Where the rows of a test are.
enum StorageKind: Sendable, CaseIterable {
    case sqlite
    #if os(Linux) || os(macOS)
        case postgreSQL
    #endif

    /// The storage of servers that name no other one.
    @TaskLocal static var current = sqlite

    /// Makes a storage without rows.
    func storage() throws -> TableServer.Storage {
        switch self {
        case .sqlite: .memory
        #if os(Linux) || os(macOS)
            case .postgreSQL:
                .postgreSQL(try PostgreSQLDatabase().connection)
        #endif
        }
    }
}

/// Runs each test on each storage. See ``StorageKind/current``.
struct EachStorageTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for kind in StorageKind.allCases {
            try await StorageKind.$current.withValue(kind) { try await function() }
        }
    }
}

extension Trait where Self == EachStorageTrait {
    /// Runs each test on SQLite, then on PostgreSQL.
    static var onEachStorage: Self { EachStorageTrait() }
}
