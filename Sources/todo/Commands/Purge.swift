// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncModels

struct Purge: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove all items from this device only.",
        discussion:
            "Queued changes are pushed first by default. The next pull fetches the items again.")

    @Flag(exclusivity: .exclusive) var pending: Pending?

    @OptionGroup var options: GlobalOptions

    enum Pending: String, EnumerableFlag {
        case discard, refuse

        static func help(for value: Pending) -> ArgumentHelp? {
            switch value {
            case .discard: "Discard queued changes: they are lost."
            case .refuse: "Do nothing if changes are queued."
            }
        }
    }

    func run(_ app: TodoApp) async throws {
        let policy: SyncContext.PurgePolicy =
            switch pending {
            case nil: .push
            case .discard: .discard
            case .refuse: .refuse
            }
        try await app.purge(pending: policy)
    }
}

extension TodoApp {
    /// Purges the table on this device.
    ///
    /// - Throws: ``Failure`` with the number of queued changes and the reason why the purge was refused.
    func purge(pending: SyncContext.PurgePolicy) async throws {
        do {
            try await context.purge(TodoItem.all.raw, pending: pending)
        } catch let error as SyncError where pending != .discard {
            guard let queued = try await queuedDescription() else { throw error }
            throw Failure(
                """
                Nothing was removed, because \(queued).
                \(await userFacingError(for: error).localizedDescription)
                To discard the queued changes, run `todo purge --discard`.
                """)
        }
        console.print("All items were removed from this device.")
    }
}
