// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import TableServer
    import TableServerPostgreSQL

    /// A server process some of whose commits are late, and some of which dies before a commit.
    enum StressedServer {
        /// Of this number of commits one has each fault.
        private static let rarity = 150

        static func arguments(_ connection: String, locksStamps: Bool, hasFaults: Bool) -> [String] {
            ["serve", connection, locksStamps ? "lock" : "no-lock", hasFaults ? "faults" : "no-faults"]
        }

        /// Runs a server until the process is killed, or its parent ends. Prints its URL, and a line for each late commit.
        static func serve(_ arguments: [String]) async throws {
            var options = PostgreSQLOptions()
            options.locksStamps = arguments[1] == "lock"
            if arguments[2] == "faults" { options.beforeCommit = { fault() } }
            var configuration = TableServer.Configuration(
                tables: [.init("TodoItem")], storage: .postgreSQL(arguments[0], options))
            configuration.recordsRequests = false
            let server: TableServer
            do { server = try await TableServer.start(configuration: configuration) } catch {
                // PostgreSQL is being restarted. The parent process starts this one again.
                exit(1)
            }
            FileHandle.standardOutput.write(Data("\(server.url.absoluteString)\n".utf8))
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    _ = FileHandle.standardInput.availableData
                    continuation.resume()
                }
            }
        }

        private static func fault() {
            switch Int.random(in: 0..<rarity) {
            case 0:
                FileHandle.standardOutput.write(Data("late\n".utf8))
                Thread.sleep(forTimeInterval: .random(in: 0.3...2.5))
            case 1 where Int.random(in: 0..<4) == 0: kill(getpid(), SIGKILL)
            default: break
            }
        }
    }
#endif
