// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import Testing

@testable import FileStore

/// Appends whose record the drive does not confirm.
final class FailingDriveTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private let drive = Drive()
    private let log: ChangeLog
    private let path: String

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appending(path: "store").path
        log = try ChangeLog(path: path, syncFile: { [drive] file in try drive.sync(file) })
        _ = try log.replay()
        try log.append([([1], [10])])
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Returns the values of the keys 1 to 3 in the next opening.
    private func reopenedValues() throws -> [[UInt8]?] {
        log.close()
        let next = try ChangeLog(path: path)
        defer { next.close() }
        let entries = try next.replay()
        return [entries[[1]], entries[[2]], entries[[3]]]
    }

    @Test func `a record whose sync fails is removed, and its removal is synced`() throws {
        drive.failNextSyncs(1)
        let error = #expect(throws: StoreError.self) { try log.append([([2], [20])]) }
        #expect(error?.code == .inputOutput)
        #expect(drive.syncCount == 4)
        #expect(try reopenedValues() == [[10], nil, nil])
    }

    @Test func `a record has an unknown outcome if neither it nor its removal is synced`() throws {
        drive.failNextSyncs(2)
        let error = #expect(throws: StoreError.self) { try log.append([([2], [20])]) }
        #expect(error?.code == .outcomeUnknown)
        try log.append([([3], [30])])
        #expect(try reopenedValues() == [[10], nil, [30]])
    }

    @Test func `an opening syncs what it has read, so that an unknown outcome no longer changes`() throws {
        drive.failNextSyncs(2)
        let error = #expect(throws: StoreError.self) { try log.append([([2], [20])]) }
        #expect(error?.code == .outcomeUnknown)
        log.close()
        let next = try ChangeLog(path: path, syncFile: { [drive] file in try drive.sync(file) })
        defer { next.close() }
        drive.failNextSyncs(1)
        let refusal = #expect(throws: StoreError.self) { _ = try next.replay() }
        #expect(refusal?.code == .inputOutput)
        #expect(drive.syncCount == 5)
    }
}

/// Syncs files, or fails to.
private final class Drive: Sendable {
    private let state = Mutex((syncCount: 0, failureCount: 0))

    var syncCount: Int { state.withLock { $0.syncCount } }

    func failNextSyncs(_ count: Int) { state.withLock { $0.failureCount = count } }

    func sync(_ file: FileHandle) throws {
        let fails = state.withLock { state in
            state.syncCount += 1
            guard state.failureCount > 0 else { return false }
            state.failureCount -= 1
            return true
        }
        if fails { throw CocoaError(.fileWriteUnknown) }
        try file.synchronize()
    }
}
