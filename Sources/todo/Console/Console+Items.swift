// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension Console {
    /// An item as a line of a list.
    ///
    /// - Parameter full: whether a long text is not shortened.
    func line(for item: Item, full: Bool) -> String {
        let box = item.isComplete ? styled("[x]", .green) : "[ ]"
        let text = full ? item.text.printable : item.text.printable.shortened()
        return "\(box) \(item.isComplete ? styled(text, .dim) : text)"
    }

    /// The two sides of a conflict, one beside the other; lines that differ are marked. Texts too long for that follow
    /// in full.
    func table(of conflict: TableOperationError) -> [String] {
        let client = conflict.kind == .delete ? nil : conflict.item
        let mine = client?.text.printable ?? "(deleted)"
        let theirs = conflict.liveServerItem?.text.printable ?? missingRow(conflict)
        let (short, shortTheirs) = (
            mine.shortened(to: Self.sideWidth), theirs.shortened(to: Self.sideWidth)
        )
        let rows: [(name: String, client: String, server: String)] = [
            ("", "client", "server"), ("text", short, shortTheirs),
            ("complete", client.map(answer) ?? "", conflict.liveServerItem.map(answer) ?? ""),
            (
                "version", conflict.item?.system.version ?? "none",
                conflict.serverItem?.system.version ?? "none"
            ),
        ]
        let width = max(18, (rows.map(\.client.count).max() ?? 0) + 2)
        let table = rows.map { row in
            let line = "  " + row.name.padded(to: 10) + row.client.padded(to: width) + row.server
            if row.name.isEmpty { return styled(line, .bold) }
            let isSame = row.name == "text" ? mine == theirs : row.client == row.server
            return isSame ? line : styled(line, .yellow)
        }
        guard short != mine || shortTheirs != theirs else { return table }
        return table + ["  client's text: \(mine)", "  server's text: \(theirs)"]
    }

    private static let sideWidth = 40

    /// A server that refuses an insert of an id without showing a row has a deleted one.
    private func missingRow(_ conflict: TableOperationError) -> String {
        conflict.serverItem == nil && conflict.kind != .insert ? "(no such row)" : "(deleted)"
    }

    private func answer(_ item: Item) -> String { item.isComplete ? "yes" : "no" }
}

extension TableOperationError {
    /// Whether somebody has to decide something; sending again is enough after a failure of the network.
    var needsDecision: Bool { isConflict || status != nil }

    /// The server's row, if it has one that is not deleted.
    var liveServerItem: Item? { serverItem.flatMap { $0.system.deleted ? nil : $0 } }
}
