// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The progress of a long check, on the standard error output: one line that changes in a terminal, otherwise a line
/// every ten seconds.
final class CheckProgress {
    private let subject: String
    private let total: Int
    private let isTerminal = isatty(2) == 1
    private var count = 0
    private var lastLine = ContinuousClock.now

    init(of subject: String, total: Int) {
        self.subject = subject
        self.total = total
    }

    /// Counts one check and shows its id.
    func advance(to id: String) {
        count += 1
        let line = "\(subject): \(count) of \(total), \(id)"
        if isTerminal {
            // Returns to the beginning of the line and clears it.
            write("\r\u{1B}[K\(line)\(count == total ? "\n" : "")")
        } else if ContinuousClock.now - lastLine >= .seconds(10) {
            lastLine = .now
            write(line + "\n")
        }
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
