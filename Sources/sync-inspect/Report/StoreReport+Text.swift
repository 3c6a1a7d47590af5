// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreReport {
    /// The report for people.
    var text: String {
        var lines = ["\(file.printable): \(format.title) store, format \(formatVersion)", "", "Tables"]
        lines += tables.isEmpty ? ["  none"] : tables.map(\.line)
        lines += ["", "Pending operations"]
        lines += operations.isEmpty ? ["  none"] : operations.flatMap(\.lines)
        if !otherErrors.isEmpty {
            lines += ["", "Errors of operations that are not pending"]
            lines += otherErrors.map { "  \($0.operation)  \($0.line)" }
        }
        lines += ["", "Delta tokens"]
        lines += deltaTokens.isEmpty ? ["  none"] : deltaTokens.map(\.line)
        lines += ["", "Next push, if the server accepts every change (dialect \(nextPush.dialect))"]
        lines += nextPush.requests.isEmpty ? ["  sends nothing"] : nextPush.requests.flatMap(\.lines)
        if !nextPush.notSent.isEmpty {
            lines += ["", "Not sent by it"]
            lines += nextPush.notSent.map {
                "  operation \($0.operation), \($0.reason.rawValue): \($0.explanation.printable)"
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension StoreState.Format {
    fileprivate var title: String {
        switch self {
        case .sqlite: "SQLite"
        case .lmdb: "LMDB"
        }
    }
}

extension StoreReport.Table {
    fileprivate var line: String {
        let parents = parents.isEmpty ? "" : ", child of \(parents.joined(separator: ", "))"
        return
            "  \(name): \(rows.counted("row")), \(pendingOperations.counted("pending operation"))\(parents)"
    }
}

extension StoreReport.Operation {
    fileprivate var lines: [String] {
        var lines = ["  \(id)  \(kind) of '\(itemID.printable)' in \(table.printable): \(stateText)"]
        if !changedFields.isEmpty { lines.append("changed fields: \(changedFields.listed)") }
        if let changedAt { lines.append("changed at \(changedAt)") }
        if let lastAttempt {
            lines.append(
                "last attempt at \(lastAttempt)" + (lastStatus.map { ", answered with status \($0)" } ?? ""))
        }
        if refusals > 0 { lines.append("refused \(refusals.counted("time"))") }
        if let version { lines.append("made on version \(version.printable)") }
        if let server { lines.append("a pull has received \(server.line)") }
        if let error { lines.append("error: \(error.line)") }
        if !operationsBehind.isEmpty {
            let ids = operationsBehind.map { "\($0)" }.joined(separator: ", ")
            lines.append("in front of operation \(ids) of the same item")
        }
        if let values { lines += values.lines("value of") }
        if let server, let values = server.values { lines += values.lines("server's value of") }
        return [lines[0]] + lines.dropFirst().map { "      \($0)" }
    }

    private var stateText: String {
        switch state {
        case TableOperation.State.attempted.rawValue: "sent; the outcome is unknown, or it is being sent now"
        case TableOperation.State.parked.rawValue: "parked"
        default:
            lastAttempt == nil ? "not sent" : error == nil ? "to be sent again" : "refused or in conflict"
        }
    }
}

extension StoreReport.OperationError {
    fileprivate var line: String {
        let status = status.map { ", status \($0)" } ?? ""
        let row = server.map { " The server has \($0.line)." } ?? ""
        return "\(name ?? "code") (\(code))\(status): \(message.printable)\(row)"
    }
}

extension StoreReport.ServerRow {
    fileprivate var line: String {
        (isDeleted ? "the deleted row" : "the row") + (version.map { " with version \($0.printable)" } ?? "")
    }
}

extension StoreReport.Token {
    fileprivate var line: String {
        let first = isFirstPull ? ", first pull not finished" : ""
        return "  \(table.printable) '\(queryID.printable)': \(updatedAt.printable), row '\(id.printable)', "
            + "instant \(instant)\(first)"
    }
}

extension StoreReport.Request {
    fileprivate var lines: [String] {
        var condition = ifMatch.map { ", If-Match: \($0)" } ?? ""
        if let ifMatchOfRequest {
            condition = ", If-Match: the version that request \(ifMatchOfRequest) returns"
        }
        let content = fields.isEmpty ? "" : ", fields: \(fields.listed)"
        return ["  \(number)  \(method) \(path)\(condition)", "      operation \(operation)\(content)"]
            + (values?.lines("value of").map { "      \($0)" } ?? [])
    }
}

extension [String: FieldJSON] {
    fileprivate func lines(_ what: String) -> [String] {
        keys.sorted().map { name in
            "\(what) \(name.printable): \(String(decoding: self[name]?.value.json ?? Data(), as: UTF8.self).printable)"
        }
    }
}

extension Int {
    /// Returns the number with the noun, such as "2 rows".
    fileprivate func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension [String] {
    /// The texts, separated by commas.
    fileprivate var listed: String { map(\.printable).joined(separator: ", ") }
}

extension String {
    /// The text on one line, without characters that change the rest of the line or the terminal.
    var printable: String { printable(replacement: "\u{FFFD}") }
}
