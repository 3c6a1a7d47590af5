// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A request that a push would send: see ``SyncContext/plannedRequests(tables:)``.
public struct PlannedRequest: Sendable, Hashable {
    /// The id of the operation.
    public let operationID: Int64
    /// The item's table.
    public let table: String
    /// The item's id.
    public let itemID: String
    /// What the request does.
    public let kind: TableOperation.Kind
    /// The fields in its body; empty for a delete.
    public let fields: [String: ItemValue]
    /// The version in its `If-Match`, if any.
    public let version: String?
}

extension SyncContext {
    /// Returns, for each pending operation of the tables that is not parked, the request that sends it. Sends
    /// nothing.
    ///
    /// The requests are in the order of the push's rounds, within a round in that of the queue; those of operations that
    /// have failed before are last. Operations that are held by others are included; an undelete or a read that precedes a
    /// request is not. Operations without changes left to send or without their item, those whose item cannot be read, and those
    /// of tables that the app no longer declares, have no request.
    ///
    /// - Parameter tables: the tables to push; `nil` is all.
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func plannedRequests(tables: Set<String>? = nil) async throws -> [PlannedRequest] {
        for table in tables ?? [] { _ = try definition(of: table) }
        let catalog = store.dataSource.catalog
        let changedOnly = sendsChangedFieldsOnly
        let (order, now, unanswered) = (PushOrder(catalog), environment.now(), unanswered.alone)
        let sentLast = operationIDsSentLast
        return try await read { snapshot in
            let failed = try FailedOperations.groups(
                in: snapshot, tables: tables, sentLast: sentLast, order: order, now: now)
            let operations = try snapshot.operations(after: 0, in: nil, limit: .max)
            let included = operations.filter { tables?.contains($0.table) ?? true && !$0.isParked }
            var planned: [TableOperation] = []
            for round in order.rounds {
                planned += included.filter { order.round(of: $0) == round && !failed.contains($0) }
            }
            var known: Set<Int64> = []
            for (group, round) in failed.inRounds(of: order) {
                for ids in group.ranges(of: round) {
                    planned += included.filter { operation in
                        order.round(of: operation) == round && group.contains(operation)
                            && operation.id > ids.lowerBound && operation.id <= ids.upperBound
                            && known.insert(operation.id).inserted
                    }
                }
            }
            return try planned.compactMap { operation in
                // An operation of a table that is no longer declared is not sent.
                guard let definition = try? catalog.table(named: operation.table) else { return nil }
                let item: Item?
                do {
                    item = try snapshot.item(id: operation.itemID, in: operation.table)
                } catch let error as StoreError where error.concernsItem {
                    return nil
                }
                if try operation.lacksItem(item, in: snapshot) { return nil }
                let attempt = operation.plannedAttempt(
                    item: item, definition: definition, sendsChangedFieldsOnly: changedOnly,
                    isUnanswered: unanswered.contains(operation.id))
                return attempt.map {
                    PlannedRequest(
                        operationID: operation.id, table: operation.table, itemID: operation.itemID,
                        kind: $0.kind, fields: $0.fields, version: $0.version)
                }
            }
        }
    }
}
