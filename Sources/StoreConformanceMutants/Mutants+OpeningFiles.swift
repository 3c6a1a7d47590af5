// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in openings that must be refused, in stores with files.
    @MutantList static var openingFiles: [StoreMutant] {
        StoreMutant(
            .opening, "makes-directory", "Opening creates the directory of the path.",
            killedBy: "open.no-directory", message: "no error", needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let directory = (path as NSString).deletingLastPathComponent
                if !FileManager.default.fileExists(atPath: directory) { hits.hit() }
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true)
                return try base.open(at: path, tables: tables)
            }
        }
        StoreMutant(
            .opening, "leaves-directory", "An opening that is refused has created the directory of the path.",
            killedBy: "open.no-directory", message: "exists afterwards", needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch {
                    hits.hit()
                    try FileManager.default.createDirectory(
                        atPath: (path as NSString).deletingLastPathComponent,
                        withIntermediateDirectories: true)
                    throw error
                }
            }
        }
        StoreMutant(
            .opening, "file-before-check", "The file is created before the tables are checked.",
            killedBy: "open.refused-leaves-no-files", message: "the files of the refused opening 0",
            needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                if !FileManager.default.fileExists(atPath: path) {
                    hits.hit()
                    Files.make(path)
                }
                return try base.open(at: path, tables: tables)
            }
        }
        StoreMutant(
            .opening, "path-as-uri", "The path is read as a URI.", killedBy: "open.path",
            message: "has no files", needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let file = path.removingPercentEncoding ?? path
                return try base.open(at: hits.changing(path, to: file), tables: tables)
            }
        }
        StoreMutant(
            .opening, "link-owner", "A symbolic link to an open file is opened by a second owner.",
            killedBy: "open.link", message: "A single-process store is not opened twice.",
            needsDurableStore: true
        ) { flaw in
            flaw.openLinksApart()
        }
        StoreMutant(
            .opening, "link-store", "A symbolic link to the file of a shared store is another store.",
            killedBy: "open.link", message: "first opening", needsDurableStore: true
        ) { flaw in
            flaw.openLinksApart()
            flaw.capabilities = { capabilities in
                var capabilities = capabilities
                capabilities.isMultiProcess = true
                return capabilities
            }
        }
        overwriting(
            "overwrites-one-byte", "A file of one byte is replaced.", to: 1,
            message: "opening a foreign file of the size 1")
        overwriting(
            "overwrites-short", "A file that is shorter than a header is replaced.", to: 511,
            message: "opening a foreign file of the size 1")
    }

    /// A mutant that replaces files up to a size.
    private static func overwriting(
        _ name: String, _ flaw: String, to maximumSize: Int, message: String
    ) -> StoreMutant {
        StoreMutant(
            .opening, name, flaw, killedBy: "durable.foreign-file", message: message, needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let size = FileManager.default.contents(atPath: path)?.count ?? 0
                if size > 0, size <= maximumSize {
                    hits.hit()
                    try FileManager.default.removeItem(atPath: path)
                }
                return try base.open(at: path, tables: tables)
            }
        }
    }
}

extension StoreFlaw {
    /// Opens another store for a symbolic link: two owners of one file do not see each other's writes.
    fileprivate mutating func openLinksApart() {
        needsFiles = true
        openBase = { [hits] base, path, tables in
            guard (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil else {
                return try base.open(at: path, tables: tables)
            }
            hits.hit()
            return try base.open(at: path + "-of-link", tables: tables)
        }
    }
}
