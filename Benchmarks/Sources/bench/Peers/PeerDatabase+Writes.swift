// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension PeerDatabase {
    /// The peer's local writes. If `count` is given, the outbox is compacted at the end and must have `count` changes.
    static func localWrites(
        _ todos: [TodoRow], batch: Int, kind: TableOperation.Kind, over originals: [TodoRow],
        compactingTo count: Int? = nil
    ) -> Contender {
        Contender("peer") { trial in
            let peer = try PeerDatabase(path: trial.path("peer"))
            try peer.fill(with: originals)
            try await trial.measure {
                for start in stride(from: 0, to: todos.count, by: batch) {
                    try peer.write("\(kind)", todos[start..<start + batch])
                }
                guard let count else { return }
                guard try peer.compact().count == count else {
                    throw WrongResult("The outbox was not compacted to \(count) changes.")
                }
            }
            return try peer.checksum()
        }
    }

    /// Inserts and updates all items, deletes every second one, and compacts the outbox.
    static func mixedWrites(_ todos: [TodoRow], _ changed: [TodoRow], batch: Int) -> Contender {
        Contender("peer") { trial in
            let peer = try PeerDatabase(path: trial.path("peer"))
            try await trial.measure {
                for start in stride(from: 0, to: todos.count, by: batch) {
                    let range = start..<start + batch
                    try peer.write("insert", todos[range])
                    try peer.write("update", changed[range])
                    try peer.write(
                        "delete", range.filter { $0.isMultiple(of: 2) }.map { todos[$0] })
                }
                _ = try peer.compact()
            }
            return try peer.checksum()
        }
    }
}
