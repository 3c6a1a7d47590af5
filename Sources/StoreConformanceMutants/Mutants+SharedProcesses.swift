// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Stores that other processes can open although they may not, or that killed processes damage.
    @MutantList static var sharedProcesses: [StoreMutant] {
        StoreMutant(
            .capability, "refused-in-process", "A second opening is refused in the same process only.",
            killedBy: "capability.multi-process.refused.process",
            message: "while this process has the store open", needsDurableStore: true
        ) { flaw in
            flaw.refuseSecondOpening { [hits = flaw.hits] _ in
                hits.hit()
                return nil
            }
        }
        StoreMutant(
            .capability, "refusal-unlocks", "A refused opening releases the lock of the first one.",
            killedBy: "capability.multi-process.refused.process",
            message: "after a refused opening in this process", needsDurableStore: true
        ) { flaw in
            flaw.refuseSecondOpening { try StoreFileLock(storePath: $0 + ".process") }
        }
        StoreMutant(
            .capability, "leftover-write-lock",
            "The write lock of a killed process is removed when the store is opened, but not before.",
            killedBy: "capability.multi-process.processes.killed", message: "A process is writing.",
            needsDurableStore: true
        ) { flaw in
            flaw.shareByTurns()
            flaw.removeAtOpening(".writer")
            let (write, path) = (flaw.write, flaw.path)
            flaw.write = { [hits = flaw.hits] base, body in
                let file = OwnedFile(path + ".writer")
                let end = Date.now.addingTimeInterval(3)
                while !file.create() {
                    if file.isLeftOver { hits.hit() }
                    if Date.now > end { throw StoreError(.unavailable, "A process is writing.") }
                    Thread.sleep(forTimeInterval: 0.001)
                }
                defer { file.remove() }
                try write?(base, body)
            }
        }
        StoreMutant(
            .capability, "replayed-journal",
            "An opening repeats a part of the write of a killed process; one that opens later does not.",
            killedBy: "capability.multi-process.processes.killed",
            message: "shows the state of a whole transaction", needsDurableStore: true
        ) { flaw in
            flaw.shareByTurns()
            flaw.removeAtOpening(".journal")
            let write = flaw.write
            let file = OwnedFile(flaw.path + ".journal")
            let replay = { @Sendable [hits = flaw.hits] (base: any SyncContextDataSource) in
                guard file.isLeftOver, let content = file.content else { return }
                hits.hit()
                let item = try Item(storedJSON: content)
                try base.write { try $0.upsert([item], in: "Thing") }
                file.remove()
            }
            flaw.upsert = { transaction, items, table in
                if table == "Thing", let item = items.first { file.write(item.storedJSON) }
                try transaction.upsert(items, in: table)
            }
            flaw.write = { base, body in
                try replay(base)
                defer { file.remove() }
                try write?(base, body)
            }
            flaw.read = { base, body in
                try replay(base)
                try base.read(body)
            }
        }
    }
}

extension StoreFlaw {
    /// Lets other processes take turns with this one, which refuses a second opening by itself.
    ///
    /// - Parameter lock: acquires the lock that excludes other processes; a refused opening releases it.
    fileprivate mutating func refuseSecondOpening(
        lock: @escaping @Sendable (_ path: String) throws -> StoreFileLock?
    ) {
        takeTurns(isMultiProcess: false)
        let open = openBase
        let isOpen = Shared(false)
        openBase = { [hits] base, path, tables in
            if let first = OpenPaths.locks.value[path] {
                if let first {
                    hits.hit()
                    first.release()
                }
                throw StoreError(.alreadyOpen, "The store is open.")
            }
            let lock = try lock(path)
            do {
                let store = try open?(base, path, tables) ?? base.open(at: path, tables: tables)
                OpenPaths.locks.change { $0[path] = .some(lock) }
                isOpen.change { $0 = true }
                return store
            } catch {
                lock?.release()
                throw error
            }
        }
        close = { [path] base in
            try base.close()
            guard isOpen.value else { return }
            isOpen.change { $0 = false }
            OpenPaths.locks.value[path]??.release()
            OpenPaths.locks.change { $0[path] = nil }
        }
    }

    /// Removes a file of a process that has ended when the store is opened.
    fileprivate mutating func removeAtOpening(_ suffix: String) {
        let open = openBase
        openBase = { base, path, tables in
            let file = OwnedFile(path + suffix)
            if file.isLeftOver { file.remove() }
            return try open?(base, path, tables) ?? base.open(at: path, tables: tables)
        }
    }
}

/// The paths that this process has open, with their locks.
private enum OpenPaths {
    static let locks = Shared<[String: StoreFileLock?]>([:])
}

/// A file beside a store that belongs to the process that has written it. The process holds a lock, which the system
/// releases when the process ends.
private struct OwnedFile {
    private static let locks = Shared<[String: StoreFileLock]>([:])
    private let path: String

    init(_ path: String) { self.path = path }

    /// Creates the file unless it exists.
    func create() -> Bool {
        guard let lock = lock() else { return false }
        let url = URL(fileURLWithPath: path)
        guard (try? Data().write(to: url, options: .withoutOverwriting)) != nil else {
            lock.release()
            return false
        }
        Self.locks.change { $0[path] = lock }
        return true
    }

    func write(_ content: Data) {
        while Self.locks.value[path] == nil {
            if let lock = lock() { Self.locks.change { $0[path] = lock } }
        }
        Files.make(path, content)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
        Self.locks.value[path]?.release()
        Self.locks.change { $0[path] = nil }
    }

    var content: Data? { FileManager.default.contents(atPath: path) }

    /// Whether the file is of a process that has ended.
    var isLeftOver: Bool {
        guard FileManager.default.fileExists(atPath: path), let lock = lock() else { return false }
        lock.release()
        return true
    }

    /// Returns `nil` while a running process owns the file.
    private func lock() -> StoreFileLock? { try? StoreFileLock(storePath: path + ".owner") }
}
