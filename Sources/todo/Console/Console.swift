// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where the app talks with its user: a terminal, a pipe, or a test.
struct Console: Sendable {
    /// Whether somebody is there to answer questions.
    var isInteractive = false
    /// Whether a line can be written over.
    var rewritesLines = false
    /// Whether colours are shown.
    var showsColor = false
    /// Takes text as it is.
    var write: @Sendable (String) -> Void
    /// Takes text about failures; the same as ``write`` unless there is another stream for it.
    var writeError: (@Sendable (String) -> Void)?
    /// Waits for a line; `nil` when there will be none.
    var readLine: @Sendable () -> String? = { nil }

    /// A colour or weight of text.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
        case magenta = 35
    }

    /// Writes a line.
    func print(_ line: String = "") { write(line + "\n") }

    /// Writes what failed, as a line or more.
    func printError(_ message: String) { (writeError ?? write)("Error: \(message)\n") }

    /// The text in that style, if styles are shown.
    func styled(_ text: String, _ style: Style) -> String {
        showsColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Asks a question until the answer makes sense; `nil` when there will be no answer.
    func ask<Answer>(_ question: String, _ understand: (String) -> Answer?) -> Answer? {
        while true {
            write(question)
            guard let line = readLine() else {
                print()
                return nil
            }
            if let answer = understand(line.trimmingCharacters(in: .whitespaces)) { return answer }
        }
    }
}

extension Console {
    /// Standard input and output.
    static var terminal: Console {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let environment = ProcessInfo.processInfo.environment
        let canMove = isTerminal && environment["TERM"] != "dumb"
        return Console(
            isInteractive: isTerminal && isatty(STDIN_FILENO) == 1, rewritesLines: canMove,
            showsColor: canMove && (environment["NO_COLOR"] ?? "").isEmpty,
            write: { text in
                Swift.print(text, terminator: "")
                fflush(nil)
            },
            writeError: { FileHandle.standardError.write(Data($0.utf8)) },
            readLine: { Swift.readLine() })
    }

    /// Writes a line that is no result to standard error.
    static func warn(_ message: String) {
        FileHandle.standardError.write(Data("Note: \(message)\n".utf8))
    }
}

extension String {
    /// The text on one line and without control characters, which could play tricks with a terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar.properties.isBidiControl ? " " : scalar
                    }
                }))
    }

    /// The text cut to that many characters, the last of which is then an ellipsis.
    func shortened(to count: Int = 60) -> String {
        guard self.count > count else { return self }
        let start = prefix(count - 1)
        return start.trimmingCharacters(in: .whitespaces) + "…"
    }

    /// The text with spaces after it up to that many characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
