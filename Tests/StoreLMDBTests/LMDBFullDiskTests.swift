// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Glibc
    import StoreLMDB
    import SyncCore
    import TestSupport
    import Testing

    /// A disk without space, simulated by a limit of the size of files. A test that sets the limit runs in a separate process.
    struct LMDBFullDiskTests {
        /// A write to a mapped file ends the process if the file has no space at that place and the disk is full.
        @Test(arguments: [0, 33_000])
        func `an open store has disk space for its whole lock file`(oldSize: Int) throws {
            try TemporaryStore.with { temporary in
                let lockFile = temporary.path + "-lock"
                #expect(FileManager.default.createFile(atPath: lockFile, contents: nil))
                #expect(truncate(lockFile, oldSize) == 0)
                let store = try temporary.open()
                var status = stat()
                let result = stat(lockFile, &status)
                #expect(result == 0)
                #expect(status.st_size >= max(oldSize, 512 * 64))
                #expect(512 * status.st_blocks >= status.st_size)
                try store.put(["1"])
                try store.close()
            }
        }

        @Test func `a write that the system cuts off throws full, and keeps what was written`() async {
            await #expect(processExitsWith: .success) {
                try TemporaryStore.with { temporary in
                    let store = try temporary.open()
                    // The limit is within a page, so the system writes a part of the page.
                    let unlimited = try setFileSizeLimit(500_001)
                    var count = 0
                    let code = codeOfError {
                        while count < 1000 {
                            try store.put(["\(count)"], text: String(repeating: "x", count: 3000))
                            count += 1
                        }
                    }
                    precondition(code == .full, "\(count) items, then \(String(describing: code))")
                    let kept = try store.ids().count
                    precondition(kept == count)
                    _ = try setFileSizeLimit(unlimited)
                    try store.put(["after"])
                    try store.close()
                    let reopened = try temporary.open().ids().count
                    precondition(reopened == count + 1)
                }
            }
        }

        @Test func `a store that did not fit on the disk can be opened when there is space`() async {
            await #expect(processExitsWith: .success) {
                try TemporaryStore.with { temporary in
                    // Enough for the lock file and a part of the first two pages.
                    let unlimited = try setFileSizeLimit(6000)
                    let code = codeOfError { try temporary.open(maxReaders: 2).close() }
                    precondition(code == .full, String(describing: code))
                    _ = try setFileSizeLimit(unlimited)
                    try temporary.open(maxReaders: 2).put(["1"])
                    let ids = try temporary.open().ids()
                    precondition(ids == ["1"])
                }
            }
        }
    }

    private func codeOfError(_ body: () throws -> Void) -> StoreError.Code? {
        do { try body() } catch { return (error as? StoreError)?.code }
        return nil
    }
#endif
