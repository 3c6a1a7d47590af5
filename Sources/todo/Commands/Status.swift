// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Status: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the server, the store, the queue and the error log.",
        discussion: "The status is read on this device, without a request to the server.")

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.status() }
}

extension TodoApp {
    /// Prints the status of this device.
    func status() async throws {
        let items = try await table.fetch()
        let operations = try await context.pendingOperations()
        let errors = try await context.operationErrors()
        let status = try await context.status()
        let tokens = try await context.deltaTokens(of: TodoItem.schema.name)
        let ids = ShortIDs(items.map(\.id.text) + operations.map(\.itemID))
        let texts = Dictionary(items.map { (UTF8Text($0.id.text), $0.text) }) { first, _ in first }

        heading("Server", server)
        heading("Store", storeName)
        heading("Items", "\(items.count), \(items.count(where: \.complete)) done")
        heading("Pulled", tokens.isEmpty ? "never" : "")
        for (queryID, token) in tokens.sorted(by: { $0.key < $1.key }) {
            console.print("  query ID \"\(queryID)\" up to \(token)")
        }
        let waiting = [
            (status.parkedOperations, "parked"), (status.conflictingOperations, "in conflict"),
            (status.heldOperations, "waiting for another change"),
        ].filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }
        heading("Queued", "\(operations.count)\(waiting.joined())")
        for operation in operations {
            let text = texts[UTF8Text(operation.itemID)] ?? operation.deletedItem?.text ?? ""
            let state =
                switch operation.state {
                case .pending: ""
                case .attempted: " (sent, result unknown)"
                case .parked: " (parked after \(operation.refusals) refusals)"
                }
            let description = text.printable.shortened() + state
            console.print(
                "  \(operation.kind.rawValue.padded(to: 7)) \(ids.short(operation.itemID))  \(description)")
        }
        heading("Errors", "\(errors.count)")
        for error in errors {
            console.print(
                "  \(error.kind.rawValue.padded(to: 7)) \(ids.short(error.itemID))  "
                    + "\(error.message.printable) (code \(error.code.rawValue))")
        }
    }

    private func heading(_ name: String, _ value: String) {
        let title = value.isEmpty ? name : name.padded(to: 9)
        console.print(console.styled(title, .bold) + value)
    }
}
