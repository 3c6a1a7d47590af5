// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Synchronization

/// The credentials that middleware has put into a request, so that they can be hidden where the server repeats them.
final class SentCredentials: Sendable {
    /// Those of the request that the current task sends.
    @TaskLocal static var current: SentCredentials?

    private let values = Mutex<Set<String>>([])

    /// The values, and those without a scheme such as "Bearer". The longest is first, because it can contain another.
    var secrets: [String] {
        values.withLock { $0.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) } }
    }

    /// Records the credentials of a request that is being sent.
    func record(_ fields: HTTPFields) {
        for field in fields where field.isCredential {
            let parts = field.value.split(separator: " ", maxSplits: 1)
            values.withLock { $0.formUnion([field.value, parts.last.map(String.init) ?? ""]) }
        }
    }
}
