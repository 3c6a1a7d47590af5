// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TableServer

/// Returns the contents of a file that a setting names.
///
/// - Throws: `ValidationError` that says why the file cannot be read.
func contents(ofFile path: String) throws -> Data {
    do {
        return try Data(contentsOf: URL(filePath: path))
    } catch {
        let reason = FileProblem(readingFile: path)?.description ?? error.localizedDescription
        throw ValidationError("The file '\(path)' cannot be read: \(reason)")
    }
}
