// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in the error log.
    @MutantList static var logs: [StoreMutant] {
        StoreMutant(
            .log, "keeps-first", "An existing error is not replaced.", killedBy: "log.replaces",
            "log.moves", message: "the log"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] transaction, error in
                if try transaction.operationError(operationID: error.operationID) == nil {
                    try transaction.put(error)
                } else {
                    hits.hit()
                }
            }
        }
        StoreMutant(
            .log, "of-all-tables", "The errors of a table are those of all tables.", killedBy: "log.table",
            "log.moves", "corpus.error", message: "errors of"
        ) { flaw in
            flaw.operationErrors = { [hits = flaw.hits] snapshot, table in
                hits.changing(
                    try snapshot.operationErrors(in: table), to: try snapshot.operationErrors(in: nil))
            }
        }
        StoreMutant(
            .log, "any-error", "An operation without an error returns the first error of the log.",
            killedBy: "log.missing", message: "the error of operation 1"
        ) { flaw in
            flaw.operationError = { [hits = flaw.hits] snapshot, id in
                let right = try snapshot.operationError(operationID: id)
                return hits.changing(right, to: try right ?? snapshot.operationErrors(in: nil).first)
            }
        }
        StoreMutant(
            .log, "last-first", "The log is in descending order.", killedBy: "log.order", message: "the log"
        ) { flaw in
            flaw.operationErrors = { [hits = flaw.hits] snapshot, table in
                let right = try snapshot.operationErrors(in: table)
                return hits.changing(right, to: right.reversed())
            }
        }
        StoreMutant(
            .log, "shallow", "Rows in the log lose undeclared values below ninety levels.",
            killedBy: "log.deep", message: "the log"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] transaction, error in
                var row = error.serverItem
                let undeclared = row?.system.undeclared ?? [:]
                row?.system.undeclared = undeclared.mapValues { $0.cut(depth: 90) }
                let cut = TableOperationError(
                    operationID: error.operationID, table: error.table, itemID: error.itemID,
                    kind: error.kind, item: error.item, serverItem: row, status: error.status,
                    code: error.code, message: error.message, revision: error.revision)
                try transaction.put(hits.changing(error, to: cut))
            }
        }
        StoreMutant(
            .log, "no-server-item", "The server's item is not stored.", killedBy: "log.exact",
            message: "the error by its operation"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] transaction, error in
                try transaction.put(hits.changing(error, to: error.withoutServerItem))
            }
        }
        StoreMutant(
            .log, "needs-operation", "An error without an operation is not stored.",
            killedBy: "log.without-operation", message: "the log"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] transaction, error in
                if try transaction.operation(id: error.operationID) == nil {
                    hits.hit()
                } else {
                    try transaction.put(error)
                }
            }
        }
        StoreMutant(
            .log, "raises-id", "An error raises the last operation id.", killedBy: "log.without-operation",
            message: "the last operation id"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] transaction, error in
                if try transaction.lastOperationID() < error.operationID {
                    hits.hit()
                    try transaction.put(Fixture.operation(error.operationID))
                    try transaction.removeOperation(id: error.operationID)
                }
                try transaction.put(error)
            }
        }
        StoreMutant(
            .log, "removes-all", "Removing one error removes all errors.", killedBy: "log.remove",
            "log.inside",
            "log.remove.missing", message: "the log"
        ) { flaw in
            flaw.removeError = { [hits = flaw.hits] transaction, _ in
                hits.hit()
                for error in try transaction.operationErrors(in: nil) {
                    try transaction.removeOperationError(operationID: error.operationID)
                }
            }
        }
        StoreMutant(
            .log, "keeps", "Errors are not removed.", killedBy: "log.remove", "log.inside", message: "the log"
        ) { flaw in
            flaw.removeError = { [hits = flaw.hits] _, _ in hits.hit() }
        }
    }
}

extension TableOperationError {
    /// The error without the server's item.
    var withoutServerItem: TableOperationError {
        TableOperationError(
            operationID: operationID, table: table, itemID: itemID, kind: kind, item: item, serverItem: nil,
            status: status, code: code, message: message, revision: revision)
    }
}
