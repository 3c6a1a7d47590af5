// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

extension TodoApp {
    /// Returns the errors about which the user must decide, in the order of the queue. After other failures, sending again
    /// is enough. A parked change is not sent again.
    func errorsToDecide() async throws -> [TableOperationError] {
        let parked = Set(try await context.pendingOperations().filter { $0.state == .parked }.map(\.id))
        return try await context.operationErrors().filter { $0.isRefusal || parked.contains($0.operationID) }
    }

    /// Returns the ids of the items about which the user must decide.
    func refusedItems() async throws -> Set<UTF8Text> {
        Set(try await errorsToDecide().map { UTF8Text($0.itemID) })
    }

    /// Shows an error with the client's and the server's item.
    func show(_ error: TableOperationError, id: String) {
        let title = error.isConflict ? "Server Conflict" : "Error"
        console.print(console.styled("\(title): \(error.kind) of \(id)", .red))
        console.print("\(error.message.printable) (code \(error.code.rawValue))")
        for line in console.table(of: error) { console.print(line) }
    }

    /// Resolves an error by a choice. The next push sends the resulting change, if any.
    ///
    /// Another program, such as `todo watch`, can have sent the change again while the user was asked. The choice also holds for
    /// the new error if it shows the same.
    func resolve(_ error: TableOperationError, by choice: ConflictChoice) async throws {
        do {
            try await apply(choice, to: error)
        } catch let failure as SyncError where failure.code == .operationChanged {
            let errors = try await context.operationErrors()
            guard let newer = errors.first(where: { $0.shows(sameAs: error) }) else { throw failure }
            try await apply(choice, to: newer)
        }
    }

    private func apply(_ choice: ConflictChoice, to error: TableOperationError) async throws {
        switch choice {
        case .client: try await useClient(for: error)
        case .server: try await context.cancelAndDiscardItem(for: error)
        case .cancel: break
        }
    }

    /// Makes the client's change pending again, based on the server's current item.
    private func useClient(for error: TableOperationError) async throws {
        guard error.isConflict else { return try await context.replay(operationID: error.operationID) }
        if error.kind == .delete { return try await context.changeKind(for: error, to: .delete) }
        guard let item = try await table.raw.item(id: error.itemID) ?? error.item else { return }
        try await context.keepAndUpdateItem(for: error, with: item)
    }
}

extension TableOperationError {
    /// Whether the user sees the same error of the same operation.
    fileprivate func shows(sameAs other: TableOperationError) -> Bool {
        operationID == other.operationID && kind == other.kind && code == other.code
            && item == other.item && serverItem == other.serverItem
    }
}
