// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The directory of this device's data.
struct DataDirectory {
    let url: URL

    /// Creates the directory if it does not exist, readable only by its owner.
    init(path: String) throws {
        url = URL(fileURLWithPath: (path as NSString).expandingTildeInPath, isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("The directory '\(url.path)' cannot be created. Choose another one with --data.")
        }
    }

    /// Returns the id of this installation, which requests carry. The first call generates and stores it.
    func installationID() throws -> String {
        let file = url.appendingPathComponent("installation")
        // An editor may have added a newline, which a header cannot have.
        let stored = try? String(contentsOf: file, encoding: .utf8).trimmingCharacters(
            in: .whitespacesAndNewlines)
        if let stored, !stored.isEmpty { return stored }
        let id = UUID().uuidString.lowercased()
        do {
            try Data(id.utf8).write(to: file, options: .atomic)
        } catch {
            throw Failure("The file '\(file.path)' cannot be written. Choose another directory with --data.")
        }
        return id
    }
}
