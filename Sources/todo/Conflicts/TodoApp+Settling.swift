// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension TodoApp {
    /// Shows what failed and both sides of it.
    func show(_ error: TableOperationError, id: String) {
        let title = error.isConflict ? "Server Conflict" : "Error"
        console.print(console.styled("\(title): \(error.kind) of \(id)", .red))
        console.print("\(error.message) (code \(error.code.rawValue))")
        for line in console.table(of: error) { console.print(line) }
    }

    /// Carries out a choice. The next push sends what has become of the change.
    func settle(_ error: TableOperationError, by choice: ConflictChoice) async throws {
        switch choice {
        case .client: try await keep(error)
        case .server: try await context.cancelAndDiscardItem(for: error)
        case .cancel: break
        }
    }

    /// Lets the client win: the change is made anew on what the server has now.
    private func keep(_ error: TableOperationError) async throws {
        guard error.isConflict else { return try await context.replay(operationID: error.operationID) }
        if error.kind == .delete { return try await context.changeKind(for: error, to: .delete) }
        guard let item = try await table.item(id: error.itemID) ?? error.item else { return }
        try await context.keepAndUpdateItem(for: error, with: item)
    }
}
