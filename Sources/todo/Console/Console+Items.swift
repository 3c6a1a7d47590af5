// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

extension Console {
    /// Returns an item as a line of a list.
    ///
    /// - Parameter full: Whether a long text is shown in full.
    func line(_ text: String, isComplete: Bool, full: Bool = false) -> String {
        let box = isComplete ? styled("[x]", .green) : "[ ]"
        let text = full ? text.printable : text.printable.shortened()
        return "\(box) \(isComplete ? styled(text, .dim) : text)"
    }

    /// Returns the two sides of a conflict in two columns, and marks the lines that differ. Texts that are too long for
    /// a column follow in full.
    func table(of conflict: TableOperationError) -> [String] {
        let client = conflict.kind == .delete ? nil : conflict.item
        let clientText = client?.text.printable ?? "(deleted)"
        let serverText = conflict.existingServerItem?.text.printable ?? missingServerText(conflict)
        let shortClientText = clientText.shortened(to: Self.columnWidth)
        let shortServerText = serverText.shortened(to: Self.columnWidth)
        let rows: [(name: String, client: String, server: String)] = [
            ("", "client", "server"), ("text", shortClientText, shortServerText),
            ("complete", client.map(completeText) ?? "", conflict.existingServerItem.map(completeText) ?? ""),
            (
                "version", version(of: conflict.item),
                conflict.isConflict ? version(of: conflict.serverItem) : ""
            ),
        ]
        let width = max(18, (rows.map(\.client.count).max() ?? 0) + 2)
        let table = rows.map { row in
            let line = "  " + row.name.padded(to: 10) + row.client.padded(to: width) + row.server
            if row.name.isEmpty { return styled(line, .bold) }
            let isSame = row.name == "text" ? clientText == serverText : row.client == row.server
            return isSame ? line : styled(line, .yellow)
        }
        guard shortClientText != clientText || shortServerText != serverText else { return table }
        return table + ["  client's text: \(clientText)", "  server's text: \(serverText)"]
    }

    private static let columnWidth = 40

    /// Returns the text for an error without a server item. A refusal that is no conflict does not tell what the server has.
    /// After the conflict of an insert that is a deleted row, because the id exists.
    private func missingServerText(_ conflict: TableOperationError) -> String {
        guard conflict.isConflict else { return "(unknown)" }
        return conflict.serverItem == nil && conflict.kind != .insert ? "(no such row)" : "(deleted)"
    }

    private func version(of item: Item?) -> String {
        item?.system.version?.printable.shortened(to: Self.columnWidth) ?? "none"
    }

    private func completeText(_ item: Item) -> String { item.isComplete ? "yes" : "no" }
}

extension TableOperationError {
    /// Whether the server has refused the change, so that sending it again is probably refused too. It does not refuse a
    /// change that it only did not confirm, nor one for a table that it does not have yet.
    var isRefusal: Bool {
        guard let status, code != .tableNotOnServer else { return isConflict }
        return isConflict || (300..<500).contains(status)
    }

    /// The server's item, if it exists and is not deleted.
    var existingServerItem: Item? { serverItem.flatMap { $0.system.deleted ? nil : $0 } }
}
