// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores that close wrongly.
    @MutantList static var lifecycles: [StoreMutant] {
        StoreMutant(
            .lifecycle, "reads-after-close", "A read works after close.", killedBy: "close.then-read",
            "close.again", saying: "a read"
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
            .lifecycle, "writes-after-close", "A write works after close.", killedBy: "close.then-write",
            "concurrent.close", saying: "a write"
        ) { flaw in
            flaw.close = { [hits = flaw.hits] _ in hits.hit() }
        }
        StoreMutant(
            .lifecycle, "late-check", "Closed is thrown after the body has run.", killedBy: "close.then-read",
            "close.then-write", saying: "does not run"
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
            .lifecycle, "close-twice", "Closing again is an error.", killedBy: "close.again",
            saying: "no error"
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
            .lifecycle, "close-unused", "A store that was never used cannot be closed.",
            killedBy: "close.unused", saying: "no error"
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
            .lifecycle, "other-code", "A closed store throws another error.", killedBy: "close.then-read",
            "close.then-write", saying: "StoreError.closed"
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
            .lifecycle, "no-catalog", "A closed store has no tables.", killedBy: "close.keeps-catalog",
            saying: "The catalog is the same."
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
            saying: "open files"
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
            killedBy: "concurrent.close", saying: "Close returned after the running write."
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
            .lifecycle, "ten-stores", "No more than ten stores can be open.", killedBy: "open.many",
            saying: "no error"
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

/// Files that a mutant leaves open until the directory they are in is gone.
private enum LeakedFiles {
    private static let kept = Shared<[String: FileHandle]>([:])

    static func keep(_ file: FileHandle?, _ path: String) {
        kept.change { kept in
            kept = kept.filter { FileManager.default.fileExists(atPath: $0.key + ".leak") }
            kept[path] = file
        }
    }
}

/// Marks that mutants leave in the file system.
enum Files {
    static func make(_ path: String, _ contents: Data = Data()) {
        _ = FileManager.default.createFile(atPath: path, contents: contents)
    }
}
