// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension Console {
    /// An item as a line of a list.
    func line(for item: Item) -> String {
        let box = item.isComplete ? styled("[x]", .green) : "[ ]"
        let text = item.text.printable
        return "\(box) \(item.isComplete ? styled(text, .dim) : text)"
    }

    /// The two sides of a conflict, one beside the other; lines that differ are marked.
    func table(of conflict: TableOperationError) -> [String] {
        let isDeleted = conflict.kind == .delete
        let client = isDeleted ? nil : conflict.item
        let rows: [(name: String, client: String, server: String)] = [
            ("", "client", "server"),
            (
                "text", client?.text.printable ?? "(deleted)",
                conflict.liveServerItem?.text.printable ?? lost(conflict)
            ),
            ("complete", client.map(answer) ?? "", conflict.liveServerItem.map(answer) ?? ""),
            (
                "version", conflict.item?.system.version ?? "none",
                conflict.serverItem?.system.version ?? "none"
            ),
        ]
        let width = max(18, (rows.map(\.client.count).max() ?? 0) + 2)
        return rows.map { row in
            let line = "  " + row.name.padded(to: 10) + row.client.padded(to: width) + row.server
            if row.name.isEmpty { return styled(line, .bold) }
            return row.client == row.server ? line : styled(line, .yellow)
        }
    }

    private func lost(_ conflict: TableOperationError) -> String {
        conflict.serverItem == nil ? "(no such row)" : "(deleted)"
    }

    private func answer(_ item: Item) -> String { item.isComplete ? "yes" : "no" }
}

extension TableOperationError {
    /// Whether somebody has to decide something; sending again is enough after a failure of the network.
    var needsDecision: Bool { isConflict || status != nil }

    /// The server's row, if it has one that is not deleted.
    var liveServerItem: Item? { serverItem.flatMap { $0.system.deleted ? nil : $0 } }
}
