// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Shows a changing count: on a terminal in one line that is overwritten, elsewhere in a new line at intervals.
struct ProgressLine {
    private let console: Console
    private let label: String
    private var shownCount: Int

    /// The change of the count between two lines, where lines cannot be overwritten.
    static let plainInterval = 1000

    /// - Parameter start: The count from which the first interval starts.
    init(_ console: Console, _ label: String, from start: Int = 0) {
        self.console = console
        self.label = label
        shownCount = start
    }

    /// Shows the count.
    mutating func show(_ count: Int) {
        if console.rewritesLines {
            console.write("\r\u{1B}[2K\(label)\(count)")
        } else if abs(count - shownCount) >= Self.plainInterval {
            console.print("\(label)\(count)")
        } else {
            return
        }
        shownCount = count
    }

    /// Clears the line on a terminal.
    func clear() {
        if console.rewritesLines { console.write("\r\u{1B}[2K") }
    }
}
