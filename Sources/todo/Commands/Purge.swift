// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
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
    ///
    /// - Throws: ``Failure`` that names the queued changes and what prevents the purge, unless they are to be dropped.
    func purge(pending: SyncContext.PurgePolicy) async throws {
        do {
            try await context.purge(TodoItem.query, pending: pending)
        } catch let error as SyncError where pending != .discard {
            guard let queued = try await queued() else { throw error }
            throw Failure(
                """
                Nothing was removed, because \(queued).
                \(await cause(of: error))
                `todo purge --discard` drops queued changes without sending them.
                """)
        }
        console.print("Nothing is kept on this device now.")
    }

    private func cause(of error: SyncError) async -> String {
        guard error.code == .pushCompletedWithErrors, let result = error.pushResult else {
            return await explained(error).localizedDescription
        }
        return lines(of: result.errors).joined(separator: "\n")
    }
}
