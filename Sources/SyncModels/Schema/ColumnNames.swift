// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The names of a model's columns. Not generic, so that reading the values of a row is specialized.
struct ColumnNames: Sendable {
    private let names: [String]

    init(_ names: [String]) { self.names = names }

    /// Returns the value of each column; null if it is missing.
    func values(in fields: [String: ItemValue]) -> [ItemValue] {
        // Comparing a few names takes less time than hashing one.
        guard names.count <= 8 else { return names.map { fields[$0] ?? .null } }
        var values = [ItemValue](repeating: .null, count: names.count)
        for (name, value) in fields {
            if let position = names.firstIndex(where: { $0 == name }) { values[position] = value }
        }
        return values
    }
}
