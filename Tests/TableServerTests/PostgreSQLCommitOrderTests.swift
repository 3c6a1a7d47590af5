// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Dispatch
    import Foundation
    import SyncCore
    import TestSupport
    import Testing

    @testable import TableServer
    @testable import TableServerPostgreSQL

    /// The order in which changes become visible.
    @Suite
    struct PostgreSQLCommitOrderTests {
        /// Holds the commit of one server while another one inserts a row, and returns the ids that a client receives which
        /// pulls by `updatedAt`, before and after the held commit.
        private func pulledIDs(locksStamps: Bool) async throws -> [[String]] {
            let database = try PostgreSQLDatabase()
            let (isHeld, isReleased) = (TestSignal(), DispatchSemaphore(value: 0))
            var options = PostgreSQLOptions()
            options.locksStamps = locksStamps
            options.timeLimits = nil
            var heldOptions = options
            heldOptions.beforeCommit = {
                isHeld.send()
                isReleased.wait()
            }
            var pages: [[String]] = []
            try await withServer({ $0.storage = .postgreSQL(database.connection, heldOptions) }) {
                late, first in
                try await withServer({
                    $0.storage = .postgreSQL(database.connection, options)
                    $0.clock = .standing(at: Timestamp("2024-05-30T12:00:01.000Z") ?? .noon)
                }) { _, second in
                    async let heldReply = first.insert(["id": "late"])
                    try await isHeld.wait()
                    async let reply = second.insert(["id": "early"])
                    // With the lock, the second insert ends after the first one.
                    if locksStamps {
                        try await database.waitForBlockedStatement()
                    } else {
                        _ = try await reply
                    }
                    let page = try await second.list("TodoItem", [("$orderby", "updatedAt,id")])
                    pages.append(page.ids)
                    let token = page.items.last?["updatedAt"]?.textValue ?? "2000-01-01T00:00:00Z"
                    isReleased.signal()
                    _ = try await (heldReply, reply)
                    pages.append(
                        try await second.list(
                            "TodoItem",
                            [
                                ("$filter", "updatedAt ge datetimeoffset'\(token)'"),
                                ("$orderby", "updatedAt,id"),
                            ]
                        ).ids)
                }
            }
            return pages
        }

        @Test func `a change that is committed late is not behind a client's delta token`() async throws {
            try await #expect(pulledIDs(locksStamps: true) == [[], ["late", "early"]])
        }

        @Test func `without the lock it would be`() async throws {
            try await #expect(pulledIDs(locksStamps: false) == [["early"], ["early"]])
        }

        @Test func `the clock of another machine can be behind`() async throws {
            let storage = TableServer.Storage.postgreSQL(try PostgreSQLDatabase().connection)
            try await withServer({ ($0.storage, $0.clock) = (storage, .running(at: .noon)) }) {
                ahead, first in
                try await withServer({ ($0.storage, $0.clock) = (storage, .running(at: .noon)) }) {
                    behind, second in
                    ahead.clock.advance(by: .seconds(10))
                    _ = try await first.insert(["id": "b"])
                    let reply = try await second.insert(["id": "a"])
                    #expect(reply["updatedAt"] == "2024-05-30T12:00:10.001Z")
                    behind.clock.advance(by: .seconds(11))
                    #expect(try await second.insert(["id": "c"])["updatedAt"] == "2024-05-30T12:00:11.000Z")
                }
            }
        }

        @Test func `of inserts of one id by two servers one succeeds`() async throws {
            let storage = TableServer.Storage.postgreSQL(try PostgreSQLDatabase().connection)
            try await withServer({ $0.storage = storage }) { _, first in
                try await withServer({ $0.storage = storage }) { _, second in
                    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                        for n in 0..<20 as Range<Int64> {
                            let client = n.isMultiple(of: 2) ? first : second
                            group.addTask {
                                try await client.insert(["id": "a", "n\(n)": .int(n)]).status
                            }
                        }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 19))
                }
            }
        }

        @Test func `versions never start again when two servers remove and insert a row`() async throws {
            let storage = TableServer.Storage.postgreSQL(try PostgreSQLDatabase().connection)
            try await withServer({ $0.storage = storage }) { _, first in
                try await withServer({ $0.storage = storage }) { _, second in
                    let versions = try await withThrowingTaskGroup(of: [String].self) { group in
                        for client in [first, second, first, second] {
                            group.addTask {
                                var versions: [String] = []
                                for _ in 0..<25 {
                                    let reply = try await client.insert(["id": "a"], in: "Other")
                                    if reply.status == 201, let version = reply["version"]?.textValue {
                                        versions.append(version)
                                    }
                                    _ = try await client.delete("a", in: "Other")
                                }
                                return versions
                            }
                        }
                        return try await group.reduce(into: []) { $0 += $1 }
                    }
                    #expect(versions.count >= 10)
                    #expect(Set(versions).count == versions.count)
                }
            }
        }
    }
#endif
