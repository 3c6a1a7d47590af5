// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// The app's input and output: a terminal, a pipe, or a test.
struct Console: Sendable {
    /// Whether a user can answer questions.
    var isInteractive = false
    /// Whether a line can be overwritten.
    var rewritesLines = false
    /// Whether colours are shown.
    var showsColor = false
    /// Writes text.
    var write: @Sendable (String) -> Void
    /// Writes error messages; ``write`` is used when this is `nil`.
    var writeError: (@Sendable (String) -> Void)?
    /// Waits for a line of input; `nil` at the end of the input.
    var readLine: @Sendable () -> String? = { nil }

    /// A colour or weight of text.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
    }

    /// Writes a line.
    func print(_ line: String = "") { write(line + "\n") }

    /// Writes an error message.
    func printError(_ message: String) { (writeError ?? write)("Error: \(message)\n") }

    /// Returns the text in this style, if styles are shown.
    func styled(_ text: String, _ style: Style) -> String {
        showsColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Repeats a question until the answer can be parsed. Returns `nil` at the end of the input.
    func ask<Answer>(_ question: String, _ parse: (String) -> Answer?) -> Answer? {
        while true {
            write(question)
            guard let line = readLine() else {
                print()
                return nil
            }
            if let answer = parse(line.trimmingCharacters(in: .whitespaces)) { return answer }
        }
    }
}

extension Console {
    /// Standard input and output.
    static var terminal: Console {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let environment = ProcessInfo.processInfo.environment
        let supportsEscapes = isTerminal && environment["TERM"] != "dumb"
        return Console(
            isInteractive: isTerminal && isatty(STDIN_FILENO) == 1, rewritesLines: supportsEscapes,
            showsColor: supportsEscapes && (environment["NO_COLOR"] ?? "").isEmpty,
            write: { text in
                do {
                    try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
                } catch {
                    outputFailure.withLock { $0 = $0 ?? error }
                }
            },
            writeError: writeError,
            readLine: { Swift.readLine() })
    }

    /// Why standard output could not be written. A command continues, because its changes are more than its output.
    private static let outputFailure = Mutex<(any Error)?>(nil)

    /// - Throws: ``Failure`` if standard output could not be written.
    static func checkOutput() throws {
        guard let error = outputFailure.withLock({ $0 }) else { return }
        throw Failure("The output cannot be written: \(error.localizedDescription)")
    }

    /// Writes a warning to standard error.
    static func warn(_ message: String) {
        writeError("Warning: \(message)\n")
    }

    /// A command continues if standard error cannot be written.
    private static func writeError(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension String {
    /// The text on one line, without characters that a terminal would interpret.
    var printable: String { printable(replacement: " ") }

    /// Returns the text truncated to a number of characters, with an ellipsis as the last.
    func shortened(to count: Int = 60) -> String {
        guard self.count > count else { return self }
        let start = prefix(count - 1)
        return start.trimmingCharacters(in: .whitespaces) + "…"
    }

    /// Returns the text padded with spaces to a width.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
