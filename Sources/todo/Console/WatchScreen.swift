// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels

/// Shows the newest page of the list and the problem of the last sync. On a terminal each picture replaces the previous one.
actor WatchScreen {
    private let app: TodoApp
    private var page: LivePage<TodoItem>?
    private var problems: [String] = []
    /// The ids of the items whose change the server has refused.
    private var refused: Set<UTF8Text> = []
    private var shown: [String] = []

    init(app: TodoApp) {
        self.app = app
    }

    func show(_ page: LivePage<TodoItem>) async throws {
        self.page = page
        refused = try await app.refusedItems()
        draw()
    }

    func show(_ state: AutoSync.State) async throws {
        var problems: [String] = []
        if let error = state.lastError, !error.isOnlyAboutConflicts {
            problems.append(await app.userFacingError(for: error).localizedDescription)
        }
        let refused = try await app.refusedItems()
        if state.conflicts > 0 {
            problems.append("Conflicts: \(state.conflicts). Resolve them with `todo sync`.")
        } else if !refused.isEmpty {
            problems.append("The server refused changes: see `todo conflicts`.")
        }
        (self.problems, self.refused) = (problems, refused)
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
                case .pending where !refused.contains(UTF8Text(item.id.text)): "*"
                case .pending, .conflict, .parked: console.styled("!", .red)
                }
            let line = console.line(item.text, isComplete: item.complete)
            return "\(console.styled(ids.short(item.id.text), .dim)) \(mark) \(line)"
        }
        lines.append(console.styled(TodoApp.count(page.count), .dim))
        for problem in problems { lines.append(console.styled(problem, .yellow)) }
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

extension SyncError {
    /// Whether conflicts are all that a push did not complete.
    fileprivate var isOnlyAboutConflicts: Bool {
        code == .pushCompletedWithErrors && pushResult?.errors.allSatisfy(\.isConflict) == true
    }
}
