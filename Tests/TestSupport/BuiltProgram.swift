// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Returns the executable of this package that was built beside the tests.
package func builtProgram(_ name: String) throws -> URL {
    let bundles = [Bundle.main] + Bundle.allBundles.filter { $0.bundleURL.pathExtension == "xctest" }
    let directories = bundles.flatMap { [$0.bundleURL, $0.bundleURL.deletingLastPathComponent()] }
    let candidates = directories.map { $0.appending(path: name) }
    guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
    else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name]) }
    return program
}
