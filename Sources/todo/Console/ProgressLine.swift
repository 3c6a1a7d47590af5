// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A count that changes: one line that is rewritten on a terminal, a line now and then elsewhere.
struct ProgressLine {
    private let console: Console
    private let label: String
    private var shown: Int

    /// How much the count changes between two lines where lines cannot be rewritten.
    static let plainInterval = 1000

    /// - Parameter start: the count that need not be shown.
    init(_ console: Console, _ label: String, from start: Int = 0) {
        self.console = console
        self.label = label
        shown = start
    }

    /// Shows the count.
    mutating func show(_ count: Int) {
        if console.rewritesLines {
            console.write("\r\u{1B}[2K\(label)\(count)")
        } else if abs(count - shown) >= Self.plainInterval {
            console.print("\(label)\(count)")
        } else {
            return
        }
        shown = count
    }

    /// Removes the line that is rewritten.
    func clear() {
        if console.rewritesLines { console.write("\r\u{1B}[2K") }
    }
}
