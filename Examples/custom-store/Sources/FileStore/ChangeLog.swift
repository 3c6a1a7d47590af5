// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// The file of the store: a header, then one record per transaction with its length and checksum.
final class ChangeLog: Sendable {
    typealias Change = (key: [UInt8], value: [UInt8]?)

    private struct State {
        let file: FileHandle
        /// The end of the last complete record.
        var end: UInt64 = 0
    }

    private static let header = Array("plain file store 1\n".utf8)
    private let state: Mutex<State>
    private let path: String
    private let syncFile: @Sendable (FileHandle) throws -> Void

    /// - Parameter syncFile: waits until the content of the file is on the drive.
    init(
        path: String,
        syncFile: @escaping @Sendable (FileHandle) throws -> Void = { try ChangeLog.synchronize($0) }
    ) throws {
        self.path = path
        self.syncFile = syncFile
        // A symbolic link is refused: the lock file is named after the path, so the link and its target would have different
        // locks.
        let type = try Self.type(of: path)
        guard type ?? .typeRegular == .typeRegular else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened: it is not a regular file.")
        }
        if type == nil {
            guard
                FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw StoreError(.cannotOpen, "'\(path)' cannot be created.") }
            Self.synchronizeDirectory(of: path)
        }
        guard let handle = FileHandle(forUpdatingAtPath: path) else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened.")
        }
        state = Mutex(State(file: handle))
    }

    /// Replays all records, and truncates the file before a last record that is incomplete. What it returns is on the drive,
    /// also if the last record is of an append with an unknown outcome.
    ///
    /// - Throws: ``/SyncCore/StoreError/Code/corrupt`` for another file, or a damaged record. The file is unchanged.
    func replay() throws -> SortedBytes {
        try state.withLock { state in
            try translatingErrors { try replay(&state) }
        }
    }

    private func replay(_ state: inout State) throws -> SortedBytes {
        let bytes = [UInt8](try state.file.readToEnd() ?? Data())
        guard !bytes.isEmpty, !Self.header.starts(with: bytes) else {
            // A new file, or one whose process ended before the header was complete.
            try state.file.truncate(atOffset: 0)
            try state.file.write(contentsOf: Self.header)
            try syncFile(state.file)
            state.end = UInt64(Self.header.count)
            return SortedBytes()
        }
        guard bytes.starts(with: Self.header) else {
            try state.file.close()
            throw StoreError(.corrupt, "'\(path)' was not written by FileStore; choose another path.")
        }
        var entries = SortedBytes()
        var reader = LogReader(bytes: bytes, position: Self.header.count)
        do {
            while let changes = try reader.next() {
                for (key, value) in changes { entries[key] = value }
            }
        } catch {
            try state.file.close()
            throw StoreError(
                .corrupt, "'\(path)' is damaged; keep it for a repair, and choose another path.",
                cause: error)
        }
        state.end = UInt64(reader.position)
        try state.file.truncate(atOffset: state.end)
        try syncFile(state.file)
        return entries
    }

    /// Appends a record and syncs it to disk.
    ///
    /// - Throws: ``/SyncCore/StoreError/Code/outcomeUnknown`` when the next opening may find the record, because neither it nor
    ///   its removal is known to be on the drive. After other errors the record is not part of the log.
    func append(_ changes: [Change]) throws {
        let record = LogReader.record(of: changes)
        try state.withLock { state in
            try translatingErrors {
                // Also removes the record of an append that has failed, if it could not be removed then.
                try state.file.truncate(atOffset: state.end)
                do { try state.file.write(contentsOf: record) } catch {
                    // What is left of the record is incomplete, and no opening reads it.
                    try? state.file.truncate(atOffset: state.end)
                    throw error
                }
                do { try syncFile(state.file) } catch {
                    try removeUnsynced(from: state, after: error)
                    throw error
                }
                state.end += UInt64(record.count)
            }
        }
    }

    /// Removes the complete record at the end of the file, whose sync has failed: it may be on the drive all the same.
    private func removeUnsynced(from state: State, after cause: any Error) throws {
        do {
            try state.file.truncate(atOffset: state.end)
            try syncFile(state.file)
        } catch {
            throw StoreError(
                .outcomeUnknown,
                "The drive has not confirmed the change of '\(path)', which may be stored or not.",
                cause: cause)
        }
    }

    func close() { state.withLock { try? $0.file.close() } }

    /// Runs calls of the file system, and throws their errors as those of a store.
    private func translatingErrors<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as StoreError { throw error } catch {
            if (error as? CocoaError)?.code == .fileWriteOutOfSpace {
                throw StoreError(.full, "The disk is full: '\(path)' cannot be written.", cause: error)
            }
            throw StoreError(.inputOutput, "'\(path)' cannot be read or written.", cause: error)
        }
    }

    /// Waits until the content of the file is on the drive.
    private static func synchronize(_ file: FileHandle) throws {
        #if canImport(Darwin)
            // `fsync` may leave it in the drive's cache. Some file systems do not support `F_FULLFSYNC`.
            if fcntl(file.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try file.synchronize()
    }

    /// Returns the type of the file; `nil` if there is none.
    private static func type(of path: String) throws -> FileAttributeType? {
        do {
            return try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened.", cause: error)
        }
    }

    /// Lets the name of a new file outlast a power failure.
    private static func synchronizeDirectory(of path: String) {
        let directory = (path as NSString).deletingLastPathComponent
        let descriptor = open(directory.isEmpty ? "." : directory, O_RDONLY)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Foundation.close(descriptor)
    }
}
