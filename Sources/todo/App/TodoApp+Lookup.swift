// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

extension TodoApp {
    /// Returns the item whose id equals the prefix, or the only one whose id begins with it.
    ///
    /// - Throws: ``Failure`` when no item matches, or more than one.
    func item(_ prefix: String) async throws -> TodoItem {
        let matches = try await table.fetch().filter {
            !prefix.isEmpty && $0.id.text.utf8.starts(with: prefix.utf8)
        }
        if let item = matches.first(where: { $0.id.text.hasSameBytes(as: prefix) }) { return item }
        return try singleMatch(matches, prefix: prefix, id: \.id.text, label: \.text)
    }

    /// Returns the error of the item whose id equals the prefix, or of the only one whose id begins with it.
    ///
    /// - Throws: ``Failure`` when no item matches, when more than one matches, or when the item has no error.
    func operationError(_ prefix: String) async throws -> TableOperationError {
        let errors = try await errorsToDecide()
        // A deleted item has only its error.
        let deleted = errors.filter { $0.kind == .delete }.map { (id: $0.itemID, text: $0.item?.text ?? "") }
        let items = try await table.fetch().map { (id: $0.id.text, text: $0.text) } + deleted
        let matches = items.filter { !prefix.isEmpty && $0.id.utf8.starts(with: prefix.utf8) }
        let whole = matches.first { $0.id.hasSameBytes(as: prefix) }
        let item = try whole ?? singleMatch(matches, prefix: prefix, id: \.id, label: \.text)
        guard let error = errors.first(where: { $0.itemID.hasSameBytes(as: item.id) }) else {
            throw Failure("\"\(item.text.printable.shortened())\" has no conflict.")
        }
        return error
    }

    private func singleMatch<T>(
        _ matches: [T], prefix: String, id: (T) -> String, label: (T) -> String
    ) throws -> T {
        guard let match = matches.first else {
            throw Failure("No item has an id that begins with '\(prefix)'. `todo list` shows the ids.")
        }
        guard matches.count == 1 else {
            let ids = ShortIDs(matches.map(id))
            let lines = matches.prefix(10).map {
                "  \(ids.short(id($0)))  \(label($0).printable.shortened())"
            }
            let more = matches.count > 10 ? ["  and \(matches.count - 10) more"] : []
            throw Failure(
                (["Several items have ids that begin with '\(prefix)'. Type more of the id:"] + lines + more)
                    .joined(separator: "\n"))
        }
        return match
    }
}
