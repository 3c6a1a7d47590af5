// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging

/// Writes events to the app's log: the one place that decides their levels, and what of them is logged.
///
/// A message holds the table, the operation's id, kinds, status, code, counts, durations and the query ID. It never
/// holds fields, tokens, URLs or filters. Item ids are logged at level `trace` only; at other levels a hash stands for
/// the id, which differs between processes, so that the messages of one item can be found together.
struct SyncLog: Sendable {
    let logger: Logger

    /// What a message holds and a ``SyncEvent`` does not.
    struct Details: Sendable {
        var operationID: Int64?
        var itemID: String?
        var code: SyncError.Code?
        var queryID: String?
        var column: String?
    }

    /// The level of each kind of event.
    static func level(of event: SyncEvent) -> Logger.Level {
        switch event {
        case .request, .retry, .pageStored: .debug
        case .pushEnded, .pullEnded, .roundEnded: .info
        case .conflict: .notice
        case .parked, .rowUnreadable: .warning
        }
    }

    func record(_ event: SyncEvent, _ details: Details = Details()) {
        let level = Self.level(of: event)
        guard logger.logLevel <= level else { return }
        let metadata = event.metadata.merging(metadata(of: details)) { $1 }
        logger.log(level: level, "\(event.message)", metadata: metadata)
    }

    /// Records a request that belongs to no push or pull.
    func recordRequest(_ kind: SyncEvent.RequestKind, table: String, status: Int?) {
        logger.debug(
            "request", metadata: ["table": "\(table)", "kind": "\(kind)", "status": SyncEvent.value(status)])
    }

    private func metadata(of details: Details) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        metadata["operation"] = details.operationID.map { "\($0)" }
        let showsIDs = logger.logLevel <= .trace
        metadata["item"] = details.itemID.map { showsIDs ? "\($0)" : "\(Self.hash(of: $0))" }
        metadata["code"] = details.code.map { "\($0.rawValue)" }
        metadata["queryID"] = details.queryID.map { "\($0)" }
        metadata["column"] = details.column.map { "\($0)" }
        return metadata
    }

    /// Eight hexadecimal digits. The seed of the standard library's hasher is the salt: each process has its own.
    static func hash(of itemID: String) -> String {
        var hasher = Hasher()
        hasher.combine(itemID)
        let digits = String(UInt32(truncatingIfNeeded: hasher.finalize()), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension SyncEvent {
    fileprivate var message: String {
        switch self {
        case .request: "request"
        case .retry: "request failed, waiting to retry"
        case .conflict: "conflict"
        case .parked: "operation parked"
        case .pushEnded: "push ended"
        case .pageStored: "page stored"
        case .rowUnreadable: "row skipped: unreadable"
        case .pullEnded: "pull ended"
        case .roundEnded: "round ended"
        }
    }

    fileprivate var metadata: Logger.Metadata {
        switch self {
        case .request(let request):
            [
                "table": "\(request.table)", "kind": "\(request.kind)", "status": Self.value(request.status),
                "duration": Self.value(request.duration),
            ]
        case .retry(let retry):
            [
                "table": "\(retry.table)", "kind": "\(retry.kind)", "status": Self.value(retry.status),
                "attempt": "\(retry.attempt)", "delay": Self.value(retry.delay),
            ]
        case .conflict(let conflict):
            [
                "table": "\(conflict.table)", "kind": "\(conflict.kind)", "decision": "\(conflict.decision)",
            ]
        case .parked(let parked):
            ["table": "\(parked.table)", "kind": "\(parked.kind)", "status": Self.value(parked.status)]
        case .pushEnded(let push):
            push.metadata
        case .pageStored(let page):
            page.rows.metadata.merging(["table": "\(page.table)"]) { $1 }
        case .rowUnreadable(let table):
            ["table": "\(table)"]
        case .pullEnded(let pull):
            pull.rows.metadata.merging([
                "table": "\(pull.table)", "outcome": "\(pull.outcome)", "duration": Self.value(pull.duration),
            ]) { $1 }
        case .roundEnded(let round):
            [
                "cause": "\(round.cause)", "outcome": "\(round.outcome)",
                "duration": Self.value(round.duration),
            ]
        }
    }

    fileprivate static func value(_ status: Int?) -> Logger.MetadataValue {
        "\(status.map(String.init) ?? "none")"
    }

    fileprivate static func value(_ duration: Duration) -> Logger.MetadataValue {
        "\(duration / .milliseconds(1)) ms"
    }
}

extension SyncEvent.PushEnded {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "outcome": "\(outcome)", "duration": SyncEvent.value(duration),
        ]
        for outcome in SyncEvent.OperationOutcome.allCases {
            let count = operations.reduce(0) { $0 + ($1.key.outcome == outcome ? $1.value : 0) }
            metadata["\(outcome)"] = "\(count)"
        }
        return metadata
    }
}

extension SyncEvent.RowCounts {
    fileprivate var metadata: Logger.Metadata {
        [
            "upserted": "\(upserted)", "deleted": "\(deleted)", "unchanged": "\(unchanged)",
            "skippedAsPending": "\(skippedAsPending)",
        ]
    }
}
