// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore

struct Purge: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove all items from this device, and from nowhere else.",
        discussion:
            "Queued changes are pushed first unless told otherwise. The next pull brings the rows back.")

    @Flag(exclusivity: .exclusive) var pending: Pending?

    @OptionGroup var options: GlobalOptions

    enum Pending: String, EnumerableFlag {
        case discard, refuse

        static func help(for value: Pending) -> ArgumentHelp? {
            switch value {
            case .discard: "Drop queued changes too: they are lost."
            case .refuse: "Do nothing if there are queued changes."
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
    /// Empties the table on this device.
    func purge(pending: SyncContext.PurgePolicy) async throws {
        try await context.purge(TodoItem.query, pending: pending)
        console.print("Nothing is kept on this device now.")
    }
}
