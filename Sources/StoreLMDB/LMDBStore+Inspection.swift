// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
package import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension LMDBStore {
    /// Returns whether a file that begins with these bytes is an LMDB file.
    package static func recognizes(header: [UInt8]) -> Bool {
        header.withUnsafeBytes { $0.count >= LMDBMeta.size && LMDBMeta(LMDBPage(bytes: $0)) != nil }
    }

    /// Runs the body on a snapshot of the store in the file, which an app may have open at the same time.
    ///
    /// Does not change the file and creates none. An app's reads and writes do not wait for it. The reader is registered in
    /// the lock file of LMDB; without a lock file, no app has the store open.
    ///
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; ``StoreError/Code/cannotOpen``, ``StoreError/Code/corrupt``,
    ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/unsupported`` for an older format;
    ///   ``StoreError/Code/unavailable`` when the file changes during each attempt to read it.
    package static func inspect<T>(path: String, _ body: (StoreContents) throws -> T) throws -> T {
        guard try LMDBFile(path: path).size() > 0 else {
            throw StoreError(.cannotOpen, "'\(path)' does not exist or is empty.")
        }
        let maxAttempts = 10
        for attempt in 1...maxAttempts {
            let state = try LMDBFileCheck.state(path: path)
            let usesLocks = access(path + "-lock", R_OK | W_OK) == 0
            let result = Result {
                // The check reads the file without a snapshot, so it fails when an app is writing. The app has checked the
                // file when it opened it.
                _ = try LMDBFileCheck.run(path: path) { _ in attempt < maxAttempts || !usesLocks }
                return try read(path: path, size: state?.size ?? 0, usesLocks: usesLocks, body)
            }
            if usesLocks, case .success(let value) = result { return value }
            if try LMDBFileCheck.state(path: path) == state { return try result.get() }
        }
        throw StoreError.changesWhileRead(path)
    }

    private static func read<T>(
        path: String, size: Int, usesLocks: Bool, _ body: (StoreContents) throws -> T
    ) throws -> T {
        let environment: LMDBEnvironment
        let transaction: LMDBReadTransaction
        do throws(LMDBError) {
            environment = try LMDBEnvironment(
                path: path, mapSize: size, maxReaders: 1,
                access: usesLocks ? .readOnly : .readOnlyWithoutLocks)
        } catch {
            throw error.storeError(opening: path)
        }
        defer { environment.close() }
        do throws(LMDBError) { transaction = try environment.beginRead(reusing: nil) } catch {
            throw error.storeError
        }
        defer { transaction.abort() }
        return try body(
            OrderedMapStore.contents(of: transaction, maxKeyLength: environment.maxKeyLength))
    }
}
