// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore

/// Shows what the file of a store contains, also while an app has it open.
@main
struct SyncInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync-inspect",
        abstract:
            "Show the pending operations, errors and delta tokens of a store, and what its next push would send.",
        discussion: """
            The file is an SQLite or LMDB store, or an app's own SQLite database with a store. It may be in use: nothing is \
            written, and the app's reads and writes do not wait.

            The next push is a push of the framework on a copy in memory, with the default settings of an app and a server \
            that accepts every change.
            """)

    @Argument(help: "The path of the file.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(
        help:
            "Print the values of fields, which can be personal data. By default only names of fields are printed."
    )
    var values = false

    @Option(help: "The dialect of the server: v1, v2 or v3.")
    var dialect = Dialect.v2

    /// A dialect of the tables protocol on the command line.
    enum Dialect: String, ExpressibleByArgument {
        case v1, v2, v3

        var wireDialect: WireDialect {
            switch self {
            case .v1: .v1
            case .v2: .v2
            case .v3: .v3
            }
        }
    }

    func run() async throws {
        do {
            let state = try StoreState(file: file)
            let nextPush = try await NextPush(of: state, dialect: dialect.wireDialect)
            let report = StoreReport(state, nextPush, showsValues: values)
            let text = json ? try report.json : report.text
            do {
                try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            } catch {
                throw Self.failure("The report cannot be written: \(error.localizedDescription)")
            }
        } catch let error where error is StoreError || error is SyncError {
            throw Self.failure("\(error)")
        }
    }

    /// Writes the message to standard error, and returns the exit code of a failure.
    private static func failure(_ message: String) -> ExitCode {
        try? FileHandle.standardError.write(contentsOf: Data("sync-inspect: \(message.printable)\n".utf8))
        return ExitCode(1)
    }
}
