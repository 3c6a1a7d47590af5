// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore

struct List: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the items on this device.",
        discussion:
            "* marks an item with a queued change, ! an item whose change the server refused.")

    @Flag var selection = Selection.all

    @Option(help: ArgumentHelp("Only items whose text contains this.", valueName: "text"))
    var containing: String?

    @Option(help: "The order: text, created or updated.")
    var order = Order.text

    @Option(help: ArgumentHelp("The maximum number of items to show.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Show long texts in full.")
    var full = false

    @OptionGroup var options: GlobalOptions

    enum Selection: String, EnumerableFlag {
        case all, done, open

        static func help(for value: Selection) -> ArgumentHelp? {
            switch value {
            case .all: "All items."
            case .done: "Only items that are done."
            case .open: "Only items that are not done."
            }
        }
    }

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case text, created, updated
    }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("The limit cannot be negative.") }
    }

    func run(_ app: TodoApp) async throws { try await app.list(query, full: full) }

    private var query: TableQuery {
        var query = TodoItem.query.includingTotalCount()
        switch selection {
        case .all: break
        case .done: query = query.where(TodoItem.complete == true)
        case .open: query = query.where(TodoItem.complete == false)
        }
        if let containing { query = query.where(.contains(TodoItem.text, containing)) }
        switch order {
        case .text: query = query.order(by: "text")
        case .created: query = query.order(by: "createdAt")
        case .updated: query = query.order(by: "updatedAt")
        }
        query.limit = limit
        return query
    }
}

extension TodoApp {
    /// Prints the items that match the query, and marks those with queued or refused changes.
    ///
    /// - Parameter full: Whether long texts are printed in full.
    func list(_ query: TableQuery, full: Bool = false) async throws {
        let result = try await table.items(matching: query)
        let ids = ShortIDs(try await table.items().map(\.id))
        let queued = Set(try await context.pendingOperations().map { UTF8Text($0.itemID) })
        let refused = Set(
            try await context.operationErrors().filter(\.needsDecision).map { UTF8Text($0.itemID) })
        for item in result.items {
            let id = UTF8Text(item.id)
            let mark = refused.contains(id) ? console.styled("!", .red) : queued.contains(id) ? "*" : " "
            let line = console.line(for: item, full: full)
            console.print("\(console.styled(ids.short(item.id), .dim)) \(mark) \(line)")
        }
        let total = result.totalCount ?? result.items.count
        let count = total == 1 ? "1 item" : "\(total) items"
        let shown = result.items.count < total ? "\(result.items.count) of \(count)" : count
        console.print(
            console.styled(
                [shown, try await self.queuedDescription()].compactMap { $0 }.joined(separator: ", "), .dim))
    }
}
