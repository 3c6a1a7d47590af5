// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension TableQuery {
    /// A text that differs between queries that select different rows, and is the same in every process.
    ///
    /// It does not depend on the columns: a delta token is not used after they have changed.
    var fingerprint: String {
        get throws(SyncError) {
            guard filter != nil || !parameters.isEmpty else { return "all" }
            var parts: [String] = []
            for option in try odata(.v2) { parts += [option.name, option.value] }
            for (name, value) in parameters.sorted(by: { $0.key.precedesInBytes($1.key) }) {
                parts += [name, value]
            }
            return String(FNV1a.hash(parts.joined(separator: "\0").utf8), radix: 16)
        }
    }
}
