// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation
    import Glibc
    import StoreSQLite
    import SyncCore
    import TestSupport
    import Testing

    /// A disk without space, simulated by a limit of the size of files. A test that sets the limit runs in a separate process.
    struct FullDiskTests {
        @Test func `opening throws full when the file of the shared memory does not fit on the disk`() async {
            await #expect(processExitsWith: .success) { try openWithoutSpaceForSharedMemory() }
        }
    }

    private func openWithoutSpaceForSharedMemory() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending(path: "store.sqlite").path
            let store = try Things.store(at: path)
            try store.put(Item(id: "1"))
            try store.close()
            // The file of the shared memory has 32 KiB.
            let unlimited = try setFileSizeLimit(16 << 10)
            do {
                _ = try Things.store(at: path)
                preconditionFailure("The store was opened.")
            } catch let error as StoreError {
                precondition(error.code == .full, "\(error)")
            }
            _ = try setFileSizeLimit(unlimited)
            let item = try Things.store(at: path).thing("1")
            precondition(item != nil)
        }
    }
#endif
