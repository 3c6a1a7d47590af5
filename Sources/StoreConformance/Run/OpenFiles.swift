// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The open files of this process.
enum OpenFiles {
    /// Returns open descriptors and mappings of files in the directory; empty where the system has no `/proc`.
    static func inside(_ directory: String) -> [String] {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let targets = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return targets.filter { $0.hasPrefix(directory) } + mappings(inside: directory)
    }

    private static func mappings(inside directory: String) -> [String] {
        guard let data = FileManager.default.contents(atPath: "/proc/self/maps") else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.range(of: directory).map { "mapped \(line[$0.lowerBound...])" }
        }
    }
}
