// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLMDB
import StoreOrderedMap
import SyncCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// All raw pointers of LMDB are in this file. LMDBMap enforces what the C library cannot check:
// - the map is resized, and the environment closed or opened again, only while no transaction is running;
// - one write transaction runs at a time, and begins and ends on one thread;
// - a read transaction may change threads (MDB_NOTLS), but only one thread uses it at a time.

/// An open LMDB file.
///
/// Unchecked: LMDB allows any thread to use an `MDB_env` under the rules above, which the compiler cannot see.
final class LMDBEnvironment: @unchecked Sendable {
    /// What LMDB has opened.
    private struct Handles {
        let environment: OpaquePointer
        let database: MDB_dbi
        let descriptor: Int32
    }

    private let path: String
    private let maxReaders: Int
    /// `nil` after the file could not be opened again.
    private var handles: Handles?
    /// Whether LMDB refuses all transactions, because it could not write a meta page.
    private(set) var hasFailed = false
    /// The maximum size of the file.
    private(set) var mapSize: Int
    /// The greatest known size of the file, which LMDB never shrinks.
    private let fileSize = Atomic(0)
    let maxKeyLength: Int

    /// How a file is opened.
    enum Access {
        case readWrite
        /// For reading beside other processes: a reader is registered in the lock file, so that writers keep its pages.
        case readOnly
        /// For reading a file that no process changes: without the lock file.
        case readOnlyWithoutLocks

        fileprivate var flags: Int32 {
            switch self {
            case .readWrite: 0
            case .readOnly: MDB_RDONLY
            case .readOnlyWithoutLocks: MDB_RDONLY | MDB_NOLOCK
            }
        }
    }

    init(
        path: String, mapSize: Int, maxReaders: Int, access: Access = .readWrite
    ) throws(LMDBError) {
        let handles = try Self.open(path, mapSize: mapSize, maxReaders: maxReaders, access)
        (self.path, self.maxReaders, self.handles) = (path, maxReaders, handles)
        // LMDB enlarges the map to the size of the file.
        self.mapSize = Self.info(of: handles.environment).me_mapsize
        // A library that was built for longer keys must write files that others read.
        maxKeyLength = min(Int(mdb_env_get_maxkeysize(handles.environment)), LMDBNode.maxKeySize)
    }

    private static func open(
        _ path: String, mapSize: Int, maxReaders: Int, _ access: Access
    ) throws(LMDBError) -> Handles {
        var created: OpaquePointer?
        try LMDBError.check(mdb_env_create(&created))
        guard let environment = created else { throw LMDBError(code: MDB_PANIC) }
        do throws(LMDBError) {
            try LMDBError.check(mdb_env_set_mapsize(environment, mapSize))
            try LMDBError.check(mdb_env_set_maxreaders(environment, UInt32(clamping: maxReaders)))
            if access != .readOnlyWithoutLocks {
                try LMDBFile(path: path).allocateLockFile(maxReaders: maxReaders)
            }
            let flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS | access.flags)
            try LMDBError.check(mdb_env_open(environment, path, flags, 0o600))
            if case .readWrite = access { try LMDBError.check(mdb_reader_check(environment, nil)) }
            var descriptor: mdb_filehandle_t = -1
            try LMDBError.check(mdb_env_get_fd(environment, &descriptor))
            var transaction: OpaquePointer?
            try LMDBError.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
            var database = MDB_dbi()
            let code = mdb_dbi_open(transaction, nil, 0, &database)
            mdb_txn_abort(transaction)
            try LMDBError.check(code)
            return Handles(environment: environment, database: database, descriptor: descriptor)
        } catch {
            mdb_env_close(environment)
            throw error
        }
    }

    /// Opens the file again after a failure: see ``hasFailed``.
    func reopen() throws(LMDBError) {
        close()
        handles = try Self.open(path, mapSize: mapSize, maxReaders: maxReaders, .readWrite)
        hasFailed = false
    }

    private func opened() throws(LMDBError) -> Handles {
        guard let handles else { throw LMDBError(code: MDB_PANIC) }
        return handles
    }

    /// Whether nothing was ever committed.
    var isNew: Bool { handles.map { Self.info(of: $0.environment).me_last_txnid == 0 } ?? false }

    /// The state of the file; `nil` when it cannot be read.
    var fileState: LMDBFileState? { handles.flatMap { try? LMDBFileState(of: $0.descriptor) } }

    /// The size of the used pages.
    var usedSize: Int {
        guard let environment = handles?.environment else { return 0 }
        var status = MDB_stat()
        mdb_env_stat(environment, &status)
        return (Self.info(of: environment).me_last_pgno + 1) * Int(status.ms_psize)
    }

    private static func info(of environment: OpaquePointer) -> MDB_envinfo {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        return info
    }

    /// Resizes the map. LMDB unmaps the old map before it maps the new one, so this checks first that the space is
    /// available.
    func resize(to size: Int) throws(LMDBError) {
        let trial = mmap(nil, size, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0)
        guard trial != MAP_FAILED else { throw LMDBError(code: errno) }
        munmap(trial, size)
        let environment = try opened().environment
        try LMDBError.check(mdb_env_set_mapsize(environment, size))
        mapSize = Self.info(of: environment).me_mapsize
    }

    /// Begins a read transaction, or renews the idle one; aborts the idle one when this throws.
    func beginRead(reusing idle: LMDBReadTransaction?) throws(LMDBError) -> LMDBReadTransaction {
        guard let idle else {
            return LMDBReadTransaction(try begin(flags: UInt32(MDB_RDONLY)), try opened().database)
        }
        do throws(LMDBError) {
            try requireWholeFile()
            try idle.renew()
        } catch {
            idle.abort()
            throw error
        }
        return idle
    }

    /// Releases the pages that are kept for reads of processes that have ended, for example of an inspection that was killed.
    ///
    /// - Returns: whether there are any.
    func releaseEndedReaders() -> Bool {
        guard let environment = handles?.environment else { return false }
        var count: Int32 = 0
        return mdb_reader_check(environment, &count) == 0 && count > 0
    }

    func beginWrite() throws(LMDBError) -> LMDBWriteTransaction {
        do throws(LMDBError) {
            return LMDBWriteTransaction(try begin(flags: 0), try opened().database)
        } catch {
            if error.isFatal { hasFailed = true }
            throw error
        }
    }

    /// Flushes the cache of the drive on Apple's systems, where the syncs of LMDB do not. Volumes that cannot flush are synced.
    func flushDrive() throws(StoreError) {
        #if canImport(Darwin)
            guard let handles, fcntl(handles.descriptor, F_FULLFSYNC) != 0, fsync(handles.descriptor) != 0
            else { return }
            throw .unconfirmedCommit(cause: LMDBError(code: errno))
        #endif
    }

    /// The store error for a failed write. LMDB reports `EIO` when the system has written a part, as it does on a full disk.
    ///
    /// Call it after the transaction has ended. If the failed write was that of a meta page, no other transaction can begin, and the
    /// commit may be on the drive.
    func storeError(forWrite error: LMDBError) -> StoreError {
        guard let handles else { return error.storeError }
        (try? beginWrite())?.abort()
        if hasFailed {
            return .unconfirmedCommit(cause: error)
        }
        let isFull = error.code == EIO && DiskSpace(descriptor: handles.descriptor).isExhausted
        return (isFull ? LMDBError(code: ENOSPC) : error).storeError
    }

    func close() {
        if let handles { mdb_env_close(handles.environment) }
        handles = nil
    }

    private func begin(flags: UInt32) throws(LMDBError) -> OpaquePointer {
        try requireWholeFile()
        var transaction: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(try opened().environment, nil, flags, &transaction))
        guard let transaction else { throw LMDBError(code: MDB_PANIC) }
        return transaction
    }

    /// Throws when another program has truncated the file. Accessing a page beyond its end would end the process.
    private func requireWholeFile() throws(LMDBError) {
        let previous = fileSize.load(ordering: .acquiring)
        let size = try LMDBFileState(of: opened().descriptor).size
        guard size >= previous else { throw LMDBError(code: MDB_CORRUPTED) }
        fileSize.max(size, ordering: .releasing)
    }
}

/// A read transaction that can be reset and renewed for reuse.
///
/// Unchecked: the pool of ``LMDBMap`` passes it between threads, one at a time.
final class LMDBReadTransaction: OrderedMapSnapshot, @unchecked Sendable {
    private let transaction: OpaquePointer
    private let database: MDB_dbi

    fileprivate init(_ transaction: OpaquePointer, _ database: MDB_dbi) {
        self.transaction = transaction
        self.database = database
    }

    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        try lookUp(key, in: transaction, database, body)
    }

    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try walk(from: start, in: transaction, database, body)
    }

    func reset() { mdb_txn_reset(transaction) }

    fileprivate func renew() throws(LMDBError) { try LMDBError.check(mdb_txn_renew(transaction)) }

    func abort() { mdb_txn_abort(transaction) }
}

/// The write transaction; it aborts when it is deallocated.
final class LMDBWriteTransaction {
    private var transaction: OpaquePointer?
    private let database: MDB_dbi

    fileprivate init(_ transaction: OpaquePointer, _ database: MDB_dbi) {
        self.transaction = transaction
        self.database = database
    }

    deinit { abort() }

    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        try lookUp(key, in: transaction, database, body)
    }

    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try walk(from: start, in: transaction, database, body)
    }

    func put(_ value: [UInt8], for key: [UInt8]) throws(LMDBError) {
        try LMDBError.check(put(value, for: key, flags: 0))
    }

    /// Stores a new key; returns false when the key exists.
    func insert(_ value: [UInt8], for key: [UInt8]) throws(LMDBError) -> Bool {
        let code = put(value, for: key, flags: UInt32(MDB_NOOVERWRITE))
        if code != MDB_KEYEXIST { try LMDBError.check(code) }
        return code != MDB_KEYEXIST
    }

    private func put(_ value: [UInt8], for key: [UInt8], flags: UInt32) -> Int32 {
        withValue(of: key) { key in
            withValue(of: value) { value in mdb_put(transaction, database, &key, &value, flags) }
        }
    }

    func delete(_ key: [UInt8]) throws(LMDBError) {
        let code = withValue(of: key) { key in mdb_del(transaction, database, &key, nil) }
        if code != MDB_NOTFOUND { try LMDBError.check(code) }
    }

    /// Commits the changes durably. The transaction ends even if this throws.
    func commit() throws(LMDBError) {
        defer { transaction = nil }
        try LMDBError.check(mdb_txn_commit(transaction))
    }

    func abort() {
        if let transaction { mdb_txn_abort(transaction) }
        transaction = nil
    }
}

private func lookUp<T>(
    _ key: [UInt8], in transaction: OpaquePointer?, _ database: MDB_dbi,
    _ body: (UnsafeRawBufferPointer) throws -> T
) throws -> T? {
    var value = MDB_val()
    let code = withValue(of: key) { key in mdb_get(transaction, database, &key, &value) }
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw LMDBError(code: code).storeError }
    return try body(value.bytes)
}

private func walk(
    from start: [UInt8], in transaction: OpaquePointer?, _ database: MDB_dbi,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
) throws {
    var cursor: OpaquePointer?
    var code = mdb_cursor_open(transaction, database, &cursor)
    defer { if let cursor { mdb_cursor_close(cursor) } }
    var (key, value) = (MDB_val(), MDB_val())
    if code == MDB_SUCCESS {
        code = withValue(of: start) { first in
            key = first
            return mdb_cursor_get(cursor, &key, &value, start.isEmpty ? MDB_FIRST : MDB_SET_RANGE)
        }
    }
    while code == MDB_SUCCESS {
        guard try body(key.bytes, value.bytes) else { return }
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if code != MDB_NOTFOUND { throw LMDBError(code: code).storeError }
}

/// LMDB's API takes mutable pointers for data that it only reads.
private func withValue<T>(of bytes: [UInt8], _ body: (inout MDB_val) -> T) -> T {
    bytes.withUnsafeBytes { bytes in
        var value = MDB_val(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        return body(&value)
    }
}

extension MDB_val {
    fileprivate var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
