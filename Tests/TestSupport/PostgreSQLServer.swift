// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import Synchronization

    /// A PostgreSQL server in a temporary directory, which ends with this process.
    ///
    /// A shell runs the server. It ends the server and removes the directory when its standard input ends, which also
    /// happens when this process is killed.
    package final class PostgreSQLServer: Sendable {
        /// The server of this process, started at the first use.
        package static let shared = Result { try PostgreSQLServer() }

        /// The directory of the server's socket.
        private let directory: String
        private let channel: Mutex<(commands: FileHandle, answers: FileHandle)>
        private let schemaCount = Atomic<Int>(0)

        struct CannotStart: Error, CustomStringConvertible {
            let log: String
            var description: String {
                "PostgreSQL cannot be started; 'Scripts/setup --tests' installs it. Its messages: \(log)"
            }
        }

        package init() throws {
            let files = FileManager.default
            // The path of a socket has at most 107 bytes.
            directory = "/tmp/postgresql-\(UUID().uuidString.prefix(8))"
            try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
            var words = ["/bin/bash", "-c", "(\(Self.script)) <&0 &", "bash", directory]
            // The server refuses to run as root.
            if geteuid() == 0, let owner = getpwnam("postgres") {
                chown(directory, owner.pointee.pw_uid, owner.pointee.pw_gid)
                words = ["/sbin/runuser", "-u", "postgres", "--"] + words
            }
            let (process, commands, answers) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(filePath: words[0])
            process.arguments = Array(words.dropFirst())
            process.currentDirectoryURL = URL(filePath: "/")
            process.standardInput = commands
            process.standardOutput = answers
            try process.run()
            channel = Mutex((commands.fileHandleForWriting, answers.fileHandleForReading))
            try checkReady(channel.withLock { $0.answers.availableData })
        }

        /// Ends the server without a shutdown and starts it again. Blocks until it is ready.
        package func crash() throws { try send("immediate") }

        /// Restarts the server; it ends the connections. Blocks until it is ready.
        package func restart() throws { try send("fast") }

        /// Creates a schema without tables, and returns its name.
        package func newSchema() throws -> String {
            let name = "test_\(schemaCount.wrappingAdd(1, ordering: .relaxed).newValue)"
            try send("schema \(name)")
            return name
        }

        /// Returns a connection string.
        ///
        /// - Parameter schema: the first schema of the search path, and the name of the application.
        package func connection(schema: String = "public") -> String {
            "host='\(directory)' user=postgres dbname=postgres sslmode=disable gssencmode=disable "
                + "application_name=\(schema) options='-c search_path=\(schema)'"
        }

        private func send(_ command: String) throws {
            let answer = channel.withLock { channel in
                channel.commands.write(Data("\(command)\n".utf8))
                return channel.answers.availableData
            }
            try checkReady(answer)
        }

        private func checkReady(_ answer: Data) throws {
            guard String(decoding: answer, as: UTF8.self).hasSuffix("ready\n") else {
                let log = (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? "none"
                throw CannotStart(log: log)
            }
        }

        /// The operating system does not crash, so files need not be flushed.
        ///
        /// The shell closes descriptors that it has inherited: a socket of another test that has just been opened would stay
        /// open as long as the server runs.
        private static let script = """
            for file in /dev/fd/*; do
                [ "${file##*/}" -le 2 ] || eval "exec ${file##*/}>&-"
            done
            directory=$1
            homebrew="/opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb"
            server=$(ls -d /usr/lib/postgresql/*/bin/initdb $homebrew 2>/dev/null | sort -V | tail -n 1)
            PATH=$PATH:${server%/initdb}
            control() {
                pg_ctl --pgdata "$directory/data" --log "$directory/log" --wait "$@" >>"$directory/log" 2>&1
            }
            start() {
                control start --options "-k '$directory' -h '' -c max_connections=400 -c fsync=off" && echo ready || echo failed
            }
            trap '' INT
            initdb --pgdata "$directory/data" --auth trust --username postgres --encoding UTF8 --no-sync \\
                >>"$directory/log" 2>&1 && start || echo failed
            while read -r command schema; do
                if [ "$command" = schema ]; then
                    psql --host "$directory" --username postgres --quiet --command "CREATE SCHEMA $schema" \\
                        </dev/null >>"$directory/log" 2>&1 && echo ready || echo failed
                else
                    control stop --mode "$command"
                    start
                fi
            done
            control stop --mode immediate
            rm -rf "$directory"
            """
    }
#endif
