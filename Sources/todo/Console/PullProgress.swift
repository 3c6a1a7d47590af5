// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// How far a pull has come: one line that changes on a terminal, a line now and then elsewhere.
struct PullProgress {
    private let console: Console
    private var shown = 0

    private static let plainInterval = 1000

    init(_ console: Console) {
        self.console = console
    }

    /// Shows what the pull has done so far.
    mutating func show(_ result: PullResult) {
        if console.rewritesLines {
            console.write("\r\u{1B}[2KPulling… rows: \(result.received)")
            shown = result.received
        } else if result.received - shown >= Self.plainInterval {
            console.print("Pulling… rows: \(result.received)")
            shown = result.received
        }
    }

    /// Takes the changing line away.
    func clear() {
        if console.rewritesLines { console.write("\r\u{1B}[2K") }
    }
}
