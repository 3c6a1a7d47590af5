// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

/// Stores in special situations, which a mutant's harness simulates.
extension StoreFlaw {
    /// Lets small stores refuse upserts after a megabyte of text.
    mutating func limitSpace(refusingWith code: StoreError.Code = .full) {
        simulated.insert(.smallStore)
        guard opening == .small else { return }
        let used = Shared(0)
        upsert = { [hits] transaction, items, table in
            let size = items.reduce(0) { $0 + $1.textSize }
            guard used.value + size < 1 << 20 else {
                if code != .full { hits.hit() }
                throw StoreError(code, "The store is full.")
            }
            used.change { $0 += size }
            try transaction.upsert(items, in: table)
        }
    }

    /// Lets stores in an app's tables refuse items whose label is `refused`.
    ///
    /// - Parameter willRefuse: runs before the error is thrown.
    mutating func refuseItems(
        with code: StoreError.Code = .schemaMismatch,
        _ willRefuse: (@Sendable (any StoreTransaction, Item, _ table: String) throws -> Void)? = nil
    ) {
        simulated.insert(.constrainedStore)
        guard opening == .constrained else { return }
        upsert = { [hits] transaction, items, table in
            for item in items where item["label"] == "refused" {
                if code != .schemaMismatch { hits.hit() }
                try willRefuse?(transaction, item, table)
                throw StoreError(code, "A constraint of the table '\(table)' refuses the item '\(item.id)'.")
            }
            try transaction.upsert(items, in: table)
        }
    }

    /// Reports the commits of the simulated app.
    mutating func reportAppCommits() {
        simulated.insert(.externalCommits)
        onExternalCommit = { [app] _, handler in app.add(handler) }
    }

    /// Detects files of a newer format.
    ///
    /// - Parameter refuse: runs in place of the refusal; the file is opened if it returns.
    mutating func detectNewerFiles(_ refuse: @escaping @Sendable (_ path: String) throws -> Void) {
        simulated.insert(.newerFormat)
        needsFiles = true
        openBase = { base, path, tables in
            if FileManager.default.fileExists(atPath: Self.newerMark(path)) { try refuse(path) }
            return try base.open(at: path, tables: tables)
        }
    }

    /// The path of a file that marks the store at the path as one of a newer format.
    static func newerMark(_ path: String) -> String { path + "-newer" }
}

extension Item {
    /// The number of bytes of its texts. The exact description of a long text is short.
    fileprivate var textSize: Int {
        fields.values.reduce(0) { size, value in
            guard case .text(let text) = value else { return size }
            return size + text.utf8.count
        }
    }
}
