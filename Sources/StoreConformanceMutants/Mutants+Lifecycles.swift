// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in closing.
    @MutantList static var lifecycles: [StoreMutant] {
        StoreMutant(
            .lifecycle, "reads-after-close", "A read succeeds after close.", killedBy: "close.then-read",
            "close.again", message: "a read"
        ) { flaw in
            let isClosed = Shared(false)
            flaw.close = { _ in isClosed.change { $0 = true } }
            flaw.write = { base, body in
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
                try base.write(body)
            }
            flaw.read = { [hits = flaw.hits] base, body in
                if isClosed.value { hits.hit() }
                try base.read(body)
            }
        }
        StoreMutant(
            .lifecycle, "writes-after-close", "A write succeeds after close.", killedBy: "close.then-write",
            "concurrent.close", message: "a write"
        ) { flaw in
            flaw.close = { [hits = flaw.hits] _ in hits.hit() }
        }
        StoreMutant(
            .lifecycle, "locks-after-close", "A closed store gives out its locks.",
            killedBy: "close.then-lock", message: "acquiring the push lock"
        ) { flaw in
            struct FreeLock: StorePushLock { func release() {} }
            flaw.tryLockPush = { [hits = flaw.hits] base in
                do { return try base.tryLockPush() } catch {
                    hits.hit()
                    return FreeLock()
                }
            }
        }
        StoreMutant(
            .lifecycle, "late-check", "A closed store runs the body before it throws.",
            killedBy: "close.then-read",
            "close.then-write", message: "does not run"
        ) { flaw in
            let isClosed = Shared(false)
            flaw.close = { [hits = flaw.hits] _ in
                hits.hit()
                isClosed.change { $0 = true }
            }
            flaw.read = { base, body in
                try base.read(body)
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
            }
            flaw.write = { base, body in
                try base.write(body)
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
            }
        }
        StoreMutant(
            .lifecycle, "close-twice", "A second close is an error.", killedBy: "close.again",
            message: "no error"
        ) { flaw in
            let isClosed = Shared(false)
            flaw.close = { [hits = flaw.hits] base in
                if isClosed.value {
                    hits.hit()
                    throw StoreError(.closed, "The store is closed.")
                }
                isClosed.change { $0 = true }
                try base.close()
            }
        }
        StoreMutant(
            .lifecycle, "close-unused", "Closing an unused store is an error.",
            killedBy: "close.unused", message: "no error"
        ) { flaw in
            let isUsed = Shared(false)
            flaw.write = { base, body in
                isUsed.change { $0 = true }
                try base.write(body)
            }
            flaw.close = { [hits = flaw.hits] base in
                try base.close()
                if !isUsed.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "There is nothing to close.")
                }
            }
        }
        StoreMutant(
            .lifecycle, "other-code", "A closed store throws another error code.",
            killedBy: "close.then-read",
            "close.then-write", message: "StoreError.closed"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                do { try base.read(body) } catch let error as StoreError where error.code == .closed {
                    hits.hit()
                    throw StoreError(.inputOutput, "The store is not open.")
                }
            }
            flaw.write = { [hits = flaw.hits] base, body in
                do { try base.write(body) } catch let error as StoreError where error.code == .closed {
                    hits.hit()
                    throw StoreError(.inputOutput, "The store is not open.")
                }
            }
        }
        StoreMutant(
            .lifecycle, "no-catalog", "The catalog is empty after close.", killedBy: "close.keeps-catalog",
            message: "The catalog is unchanged."
        ) { flaw in
            let isClosed = Shared(false)
            flaw.close = { base in
                isClosed.change { $0 = true }
                try base.close()
            }
            flaw.catalog = { [hits = flaw.hits] catalog in
                if isClosed.value { hits.hit() }
                return isClosed.value ? (try? TableCatalog([])) ?? catalog : catalog
            }
        }
        StoreMutant(
            .lifecycle, "leaks", "Close leaves a file open.", killedBy: "close.releases-files",
            "close.after-error", "open.refused-leaves-nothing",
            message: "open files"
        ) { flaw in
            flaw.close = { [hits = flaw.hits, path = flaw.path] base in
                try base.close()
                hits.hit()
                Files.make(path + ".leak")
                LeakedFiles.keep(FileHandle(forReadingAtPath: path + ".leak"), path)
            }
        }
        StoreMutant(
            .lifecycle, "hasty-close", "Close does not wait for a running write.",
            killedBy: "concurrent.close", message: "Close returned after the running write."
        ) { flaw in
            let isClosed = Shared(false)
            flaw.close = { [hits = flaw.hits] _ in
                hits.hit()
                isClosed.change { $0 = true }
            }
            flaw.write = { base, body in
                if isClosed.value { throw StoreError(.closed, "The store is closed.") }
                try base.write(body)
            }
        }
        StoreMutant(
            .lifecycle, "ten-stores", "At most ten stores can be open.", killedBy: "open.many",
            message: "no error"
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if let number = path.split(separator: "/").dropLast().last?.drop(while: { $0.isLetter }),
                    Int(number) ?? 0 >= 10, path.contains("many")
                {
                    hits.hit()
                    throw StoreError(.cannotOpen, "There are too many stores.")
                }
                return try base.open(at: path, tables: tables)
            }
        }
    }
}

/// Files that a mutant keeps open until their directory is removed.
private enum LeakedFiles {
    private static let kept = Shared<[String: FileHandle]>([:])

    static func keep(_ file: FileHandle?, _ path: String) {
        kept.change { kept in
            kept = kept.filter { FileManager.default.fileExists(atPath: $0.key + ".leak") }
            kept[path] = file
        }
    }
}

/// Marker files of mutants.
enum Files {
    static func make(_ path: String, _ contents: Data = Data()) {
        _ = FileManager.default.createFile(atPath: path, contents: contents)
    }
}
