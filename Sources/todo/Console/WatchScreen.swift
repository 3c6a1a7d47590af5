// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels

/// Shows the newest page of the list and the problem of the last sync. On a terminal each picture replaces the previous one.
actor WatchScreen {
    private let app: TodoApp
    private var page: LivePage<TodoItem>?
    private var problem: String?
    private var shown: [String] = []

    init(app: TodoApp) {
        self.app = app
    }

    func show(_ page: LivePage<TodoItem>) {
        self.page = page
        draw()
    }

    func show(_ state: AutoSync.State) async {
        let problem: String? =
            if state.conflicts > 0 {
                "Conflicts: \(state.conflicts). Resolve them with `todo sync`."
            } else if let error = state.lastError {
                await app.userFacingError(for: error).localizedDescription
            } else {
                nil
            }
        self.problem = problem
        draw()
    }

    /// Draws the picture unless it is shown already.
    private func draw() {
        guard let page else { return }
        let console = app.console
        let ids = ShortIDs(page.map(\.id.text))
        var lines = page.map { item in
            let mark =
                switch page.syncState(of: item.id) {
                case .synced: " "
                case .pending: "*"
                case .conflict, .parked: console.styled("!", .red)
                }
            let line = console.line(item.text, isComplete: item.complete)
            return "\(console.styled(ids.short(item.id.text), .dim)) \(mark) \(line)"
        }
        lines.append(console.styled(TodoApp.count(page.count), .dim))
        if let problem { lines.append(console.styled(problem, .yellow)) }
        guard lines != shown else { return }
        if console.rewritesLines {
            console.write("\u{1B}[H\u{1B}[2J")
        } else if !shown.isEmpty {
            console.print()
        }
        for line in lines { console.print(line) }
        shown = lines
    }
}
