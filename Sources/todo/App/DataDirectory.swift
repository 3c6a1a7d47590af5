// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The directory that holds what this device keeps.
struct DataDirectory {
    let url: URL

    /// Makes the directory, for its owner alone, if it is not there.
    init(path: String) throws {
        url = URL(fileURLWithPath: (path as NSString).expandingTildeInPath, isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("The directory '\(url.path)' cannot be made. Choose another one with --data.")
        }
    }

    /// The name of this installation, which servers are told: made up at the first call and kept.
    func installationID() throws -> String {
        let file = url.appendingPathComponent("installation")
        if let id = try? String(contentsOf: file, encoding: .utf8), !id.isEmpty { return id }
        let id = UUID().uuidString.lowercased()
        do {
            try Data(id.utf8).write(to: file, options: .atomic)
        } catch {
            throw Failure("'\(file.path)' cannot be written.")
        }
        return id
    }
}
