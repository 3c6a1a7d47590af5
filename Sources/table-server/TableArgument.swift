// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TableServer

/// A table on the command line: `NAME`, `NAME:soft` or `NAME:hard`.
struct TableArgument: ExpressibleByArgument {
    let table: TableServer.Table

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.dropFirst() {
        case [], ["soft"]: table = TableServer.Table(String(parts[0]), softDelete: true)
        case ["hard"]: table = TableServer.Table(String(parts[0]), softDelete: false)
        default: return nil
        }
    }
}
