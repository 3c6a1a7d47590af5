// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations that ended a push because the response to them was a web page with a 4xx. It does not come from the tables
/// service and says nothing about the operation, but a proxy may refuse this request only, for example because of its size.
/// The next push sends them last.
final class PostponedOperations: Sendable {
    private let ids = Mutex<Set<Int64>>([])

    func insert(_ id: Int64) { ids.withLock { _ = $0.insert(id) } }

    /// Returns the operations that are still pending.
    func operations(in snapshot: any StoreSnapshot) throws -> [TableOperation] {
        let operations = try ids.withLock(\.self).sorted().compactMap(snapshot.operation)
        ids.withLock { $0.formIntersection(operations.map(\.id)) }
        return operations
    }
}
