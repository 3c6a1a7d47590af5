// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SyncCore
import Synchronization

/// Counts the responses that may be counted as refusals of each row's operation, by the specification alone.
struct RefusalCounts: Sendable {
    /// Refusals with a readable 4xx, also with a status that reports conflicts.
    private var refused: [RowKey: Int] = [:]
    /// The acts of writes whose status says that the server has another row, or none.
    private var conflicting: [RowKey: [UInt64]] = [:]
    /// The acts in which an old page has arrived.
    private var oldPages: Set<UInt64> = []
    /// The acts in which the server answered requests about the row with a server error, or reads with 401.
    private var erring: [RowKey: Set<UInt64>] = [:]
    /// The acts in which a list had a server error, which may concern any row.
    private var erringLists: Set<UInt64> = []
    /// The acts in which the server confirmed a write.
    private var confirming: Set<UInt64> = []

    /// The rows that were missing at their last write, which was a deletion.
    private(set) var missingAtDeletion: Set<RowKey> = []

    /// The rows whose write the server has refused as if there were a conflict: an insert refused with the status of a
    /// conflict, or another write refused with a 404 that a user who may not read the row cannot verify. After the server has
    /// accepted a write, they stay until the error of the refusal is gone.
    private(set) var seemingConflicts: Set<RowKey> = []
    private var acceptedRows: Set<RowKey> = []
    /// The rows whose last write, an update or a delete, was refused with a 404 that is not verified yet.
    private var unverifiedMissing: Set<RowKey> = []

    /// Records a response that has arrived.
    mutating func record(_ response: HTTPTransportResponse, to request: ModelRequest, act: UInt64) {
        let status = response.head.status.code
        let isPage = response.head.headerFields[.contentType] == "text/html"
        if request.phase.isWrite, let row = request.row {
            missingAtDeletion.remove(row)
            unverifiedMissing.remove(row)
            if (200...299).contains(status), !isPage { acceptedRows.insert(row) }
            if request.phase == .delete, status == 404 { missingAtDeletion.insert(row) }
        }
        // A damaged response counts too.
        if let row = request.row, [404, 409, 412].contains(status),
            response.head.headerFields[.server] == ModelServer.refusing
        {
            refused[row, default: 0] += 1
            if request.phase == .insert {
                recordSeemingConflict(of: row)
            } else if status == 404 {
                unverifiedMissing.insert(row)
            }
        } else if let row = request.row, request.phase.isWrite,
            [404, 409, 412].contains(status)
        {
            conflicting[row, default: []].append(act)
        }
        if request.phase == .read || request.phase == .list, let row = request.rowOfPush {
            if status == 403 || status == 405 {
                // A conflict whose row the user may not read is a refusal.
                refused[row, default: 0] += 1
                if unverifiedMissing.contains(row) { recordSeemingConflict(of: row) }
            } else if status == 401 {
                // It is about the sign-in, unless the server confirms another write of the act.
                erring[row, default: []].insert(act)
            }
        }
        switch status {
        case 200...299 where request.phase != .list, 404, 409, 410, 412: confirming.insert(act)
        case 401, 407, 408, 425, 429, 502, 503, 504, 511, 520...530: break
        case _ where isPage: break
        case 400...499 where request.phase.isWrite:
            if let row = request.row { refused[row, default: 0] += 1 }
        case 500...599:
            if let row = request.row { erring[row, default: []].insert(act) } else { erringLists.insert(act) }
        default: break
        }
    }

    private mutating func recordSeemingConflict(of row: RowKey) {
        seemingConflicts.insert(row)
        acceptedRows.remove(row)
    }

    /// Records that an old page has arrived. It may show a row that a conflict of the same act denies.
    mutating func recordOldPage(act: UInt64) { oldPages.insert(act) }

    /// The greatest number of refusals that the row's operation can have.
    ///
    /// - Parameter versionsRestart: whether a row that is inserted again after a conflict can have the version of the request.
    func most(of row: RowKey, versionsRestart: Bool) -> Int {
        let acts = erringLists.union(erring[row] ?? []).intersection(confirming)
        let contradicted = (conflicting[row] ?? []).count { oldPages.contains($0) || versionsRestart }
        return (refused[row] ?? 0) + acts.count + contradicted
    }

    /// Forgets the rows of which the server has accepted a write since, except for those whose error is still there.
    mutating func forgetAcceptedRows(except rows: Set<RowKey>) {
        seemingConflicts.subtract(acceptedRows.subtracting(rows))
        acceptedRows.formIntersection(rows)
    }

    /// Begins to count again for another operation of the row.
    mutating func reset(_ row: RowKey) {
        refused[row] = nil
        conflicting[row] = nil
        erring[row] = nil
    }
}

extension SimulatedSystem {
    /// No operation has more refusals than the server gave, and only an operation with as many as the setting says is
    /// parked.
    func checkParking(_ operations: [TableOperation], _ device: SimulatedDevice) {
        for operation in operations {
            let row = RowKey(table: operation.table, id: operation.itemID)
            // A row that was inserted again after the response cannot be told from the one that the app has changed.
            let isUnknown =
                server.traits.restartsVersions
                && device.state.withLock { $0.rowsOfUnknownBase.contains(row) }
            let most = device.state.withLock { state in
                let isNew = state.pending[row] == nil
                if isNew { state.refusals.reset(row) }
                return state.refusals.most(of: row, versionsRestart: server.traits.restartsVersions)
            }
            // The responses to an automatic sync belong to no act.
            if operation.refusals > most, !isUnknown, device.processes.first?.sync == nil {
                fail(
                    .parking,
                    "\(device.name): \(operation.kind) \(row) has \(operation.refusals) refusals; the server gave \(most)."
                )
            }
            if operation.state == .parked, operation.refusals < parkAfterRefusals {
                fail(
                    .parking, "\(device.name): \(row) is parked after \(operation.refusals) refusals.")
            }
        }
    }
}
