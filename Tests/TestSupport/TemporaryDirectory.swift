// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// An empty directory for one test, removed with its contents when this object is deallocated.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package var path: String { url.path }

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "swift-sync-context-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Returns the path of a file in this directory.
    package func file(_ name: String = "store.sqlite") -> String { path + "/" + name }
}

/// Runs the body with an empty directory, which is removed when the body returns or throws.
package func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try await body(directory.url)
}

/// Runs the body with an empty directory, which is removed when the body returns or throws.
package func withTemporaryDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try body(directory.url)
}
