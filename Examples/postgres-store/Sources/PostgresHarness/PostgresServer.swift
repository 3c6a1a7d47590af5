// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A PostgreSQL server in a temporary directory, which ends with this process.
///
/// A shell runs the server. It ends the server and removes the directory when its standard input ends, which also happens
/// when this process is killed.
final class PostgresServer: Sendable {
    /// The server of this process, started at the first use.
    static let shared = Result { try PostgresServer() }

    /// The directory of the server's socket.
    let directory: String
    private let channel: Mutex<(commands: FileHandle, answers: FileHandle)>

    struct CannotStart: Error, CustomStringConvertible {
        let log: String
        var description: String {
            "PostgreSQL cannot be started; 'Scripts/setup --tests' installs it. Its messages: \(log)"
        }
    }

    private init() throws {
        let files = FileManager.default
        // The path of a socket has at most 107 bytes.
        directory = "/tmp/postgres-\(UUID().uuidString.prefix(8))"
        try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var words = ["/bin/sh", "-c", Self.script, "sh", directory]
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
        try waitUntilReady()
    }

    /// Ends the server without a shutdown and starts it again.
    func crash() throws {
        channel.withLock { $0.commands.write(Data("crash\n".utf8)) }
        try waitUntilReady()
    }

    private func waitUntilReady() throws {
        let answer = channel.withLock { $0.answers.availableData }
        guard String(decoding: answer, as: UTF8.self).hasSuffix("ready\n") else {
            let log = (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? "none"
            throw CannotStart(log: log)
        }
    }

    /// The server is only ever crashed, so it need not flush its files.
    private static let script = """
        directory=$1
        homebrew="/opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb"
        server=$(ls -d /usr/lib/postgresql/*/bin/initdb $homebrew 2>/dev/null | sort -V | tail -n 1)
        PATH=$PATH:${server%/initdb}
        control() {
            pg_ctl --pgdata "$directory/data" --log "$directory/log" --wait "$@" >>"$directory/log" 2>&1
        }
        start() {
            control start --options "-k '$directory' -h '' -c max_connections=200 -c fsync=off" && echo ready || echo failed
        }
        trap '' INT
        initdb --pgdata "$directory/data" --auth trust --username postgres --no-sync >>"$directory/log" 2>&1 \\
            && start || echo failed
        while read -r command; do
            control stop --mode immediate
            start
        done
        control stop --mode immediate
        rm -rf "$directory"
        """
}
