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
        if let id = try? String(contentsOf: file, encoding: .utf8), !id.isEmpty { return id }
        let id = UUID().uuidString.lowercased()
        do {
            try Data(id.utf8).write(to: file, options: .atomic)
        } catch {
            throw Failure("The file '\(file.path)' cannot be written. Choose another directory with --data.")
        }
        return id
    }
}
