// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Pull: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch new and changed items from the server.",
        discussion: "Items with queued changes are not overwritten.")

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.pullWithProgress() }
}

extension TodoApp {
    /// Pulls without a push first, and shows the progress.
    func pullWithProgress() async throws {
        var settings = PullSettings()
        settings.pageSize = 500
        settings.pending = .pullAnyway
        var result = PullResult()
        var line = ProgressLine(console, "Pulling… rows: ")
        do {
            let pages = context.pulling(
                TodoItem.all.raw, queryID: TodoItem.queryID, settings: settings)
            for try await progress in pages {
                line.show(progress.received)
                result = progress
            }
        } catch {
            line.clear()
            throw error
        }
        line.clear()
        console.print(summary(of: result))
        for row in result.unreadable.prefix(Self.maxUnreadableRows) {
            let column = row.column.map { ", \($0)" } ?? ""
            console.print(
                "  \((row.id ?? "(no id)").printable.shortened())\(column): \(row.reason.printable)")
        }
    }

    /// The maximum number of unreadable rows that are listed.
    private static let maxUnreadableRows = 10

    private func summary(of result: PullResult) -> String {
        guard result.received > result.unchanged else { return "Pulled: nothing new." }
        let parts = [
            (result.upserted, "new or changed"), (result.deleted, "deleted"),
            (result.unchanged, "unchanged"),
            (result.skippedAsPending, "skipped because their items have queued changes"),
            (result.unreadable.count, "skipped because they are unreadable"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let rows = result.received == 1 ? "1 row" : "\(result.received) rows"
        return "Pulled \(rows): \(parts.joined(separator: ", "))."
    }
}
