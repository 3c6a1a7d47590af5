// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a file cannot be opened, as the end of a sentence. Errors of SQLite and of Foundation contain a number instead.
package struct FileProblem: CustomStringConvertible {
    package let description: String

    /// Finds the problem of a file that must exist; `nil` if there is none.
    package init?(readingFile path: String) {
        guard let isDirectory = Self.isDirectory(path) else {
            description = "it does not exist."
            return
        }
        if isDirectory {
            description = "it is a directory."
        } else if !FileManager.default.isReadableFile(atPath: path) {
            description = "the user of this process may not read it."
        } else {
            return nil
        }
    }

    /// Finds the problem of a database file, which is created if it does not exist; `nil` if there is none.
    init?(openingDatabase path: String) {
        let directory = URL(filePath: path).deletingLastPathComponent().path
        let files = FileManager.default
        if Self.isDirectory(path) == true {
            description = "it is a directory."
        } else if Self.isDirectory(directory) != true {
            description = "the directory '\(directory)' does not exist; create it first."
        } else if files.fileExists(atPath: path),
            !files.isReadableFile(atPath: path) || !files.isWritableFile(atPath: path)
        {
            description = "the user of this process may not read and write it."
        } else if !files.isWritableFile(atPath: directory) {
            description = "the user of this process may not create files in '\(directory)'."
        } else {
            return nil
        }
    }

    /// Whether a path is a directory; `nil` if it does not exist.
    private static func isDirectory(_ path: String) -> Bool? {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return nil }
        return isDirectory.boolValue
    }
}
