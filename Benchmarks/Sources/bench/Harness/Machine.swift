// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CSystemLMDB
import Foundation
import GRDBSQLite

/// The machine and the library versions of the measurements.
struct Machine: Codable, CustomStringConvertible {
    let system: String
    let processor: String
    let processorCount: Int
    let memory: String
    let load: String
    let fileSystem: String
    let swift: String
    let sqlite: String
    let lmdb: String

    static func current(directory: URL) -> Machine {
        var (major, minor, patch) = (Int32(), Int32(), Int32())
        mdb_version(&major, &minor, &patch)
        return Machine(
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            processor: value(of: "model name", in: "/proc/cpuinfo") ?? "unknown",
            processorCount: ProcessInfo.processInfo.activeProcessorCount,
            memory: "\(ProcessInfo.processInfo.physicalMemory >> 20) MB",
            load: text(of: "/proc/loadavg").map { String($0.prefix { $0 != " " }) } ?? "unknown",
            fileSystem: fileSystem(of: directory), swift: swiftVersion,
            sqlite: String(cString: sqlite3_libversion()), lmdb: "\(major).\(minor).\(patch)")
    }

    var description: String {
        """
        \(system), \(processorCount) × \(processor), \(memory), \(fileSystem), load \(load)
        Swift \(swift), SQLite \(sqlite) (WAL, synchronous FULL), LMDB \(lmdb) (synchronous)
        """
    }

    /// The versions on which the number of instructions depends.
    var versions: String { "Swift \(swift), SQLite \(sqlite), LMDB \(lmdb), \(system)" }

    private static var swiftVersion: String {
        #if compiler(>=6.3)
            "6.3 or later"
        #else
            "6.2"
        #endif
    }

    private static func fileSystem(of directory: URL) -> String {
        let mounts = (text(of: "/proc/mounts") ?? "").split(separator: "\n").map { $0.split(separator: " ") }
        let path = directory.path
        let mount = mounts.filter { $0.count > 2 && path.hasPrefix($0[1]) }.max { $0[1].count < $1[1].count }
        return mount.map { String($0[2]) } ?? "unknown file system"
    }

    private static func value(of name: String, in file: String) -> String? {
        let line = text(of: file)?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func text(of file: String) -> String? {
        try? String(contentsOfFile: file, encoding: .utf8)
    }
}
