// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

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

        fileprivate var column: String { self == .text ? "text" : "\(rawValue)At" }
    }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("The limit cannot be negative.") }
    }

    func run(_ app: TodoApp) async throws { try await app.list(query, full: full) }

    private var query: TableQuery {
        var query = TodoItem.all.includingTotalCount()
        switch selection {
        case .all: break
        case .done: query = query.where { $0.complete }
        case .open: query = query.where { !$0.complete }
        }
        if let containing { query = query.where { $0.text.contains(containing) } }
        if let limit { query = query.limit(limit) }
        return query.raw.order(by: order.column)
    }
}

extension TodoApp {
    /// Returns the number of items as text.
    static func count(_ items: Int) -> String { items == 1 ? "1 item" : "\(items) items" }

    /// Prints the items that match the query, and marks those with queued or refused changes.
    ///
    /// - Parameter full: Whether long texts are printed in full.
    func list(_ query: TableQuery, full: Bool = false) async throws {
        let (result, all) = try await context.read { reader in
            (try reader.items(matching: query), try reader.fetch(TodoItem.all))
        }
        let ids = ShortIDs(all.map(\.id.text))
        let queued = Set(try await context.pendingOperations().map { UTF8Text($0.itemID) })
        let refused = try await refusedItems()
        for item in result.items {
            let id = UTF8Text(item.id)
            let mark = refused.contains(id) ? console.styled("!", .red) : queued.contains(id) ? "*" : " "
            let line = console.line(item.text, isComplete: item.isComplete, full: full)
            console.print("\(console.styled(ids.short(item.id), .dim)) \(mark) \(line)")
        }
        let total = result.totalCount ?? result.items.count
        let count = Self.count(total)
        let shown = result.items.count < total ? "\(result.items.count) of \(count)" : count
        console.print(
            console.styled(
                [shown, try await self.queuedDescription()].compactMap { $0 }.joined(separator: ", "), .dim))
    }
}
