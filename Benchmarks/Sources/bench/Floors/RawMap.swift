// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CSystemLMDB
import SyncCore

/// An LMDB environment, used through the C API.
final class RawMap {
    private let environment: OpaquePointer
    private let items: MDB_dbi
    private let operations: MDB_dbi
    private let operationsOfItem: MDB_dbi

    init(path: String) throws {
        var created: OpaquePointer?
        try Self.check(mdb_env_create(&created))
        guard let created else { throw WrongResult("LMDB created no environment.") }
        environment = created
        try Self.check(mdb_env_set_mapsize(environment, 4 << 30))
        try Self.check(mdb_env_set_maxdbs(environment, 3))
        try Self.check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o600))
        var transaction: OpaquePointer?
        var handles = (MDB_dbi(), MDB_dbi(), MDB_dbi())
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        try Self.check(mdb_dbi_open(transaction, "items", UInt32(MDB_CREATE), &handles.0))
        try Self.check(
            mdb_dbi_open(transaction, "operations", UInt32(MDB_CREATE | MDB_INTEGERKEY), &handles.1))
        try Self.check(mdb_dbi_open(transaction, "operationsOfItem", UInt32(MDB_CREATE), &handles.2))
        try Self.check(mdb_txn_commit(transaction))
        (items, operations, operationsOfItem) = handles
    }

    deinit { mdb_env_close(environment) }

    func write(_ body: (Transaction) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        try body(Transaction(handle: transaction, map: self))
        try Self.check(mdb_txn_commit(transaction))
    }

    func read<T>(_ body: (Transaction) throws -> T) throws -> T {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        return try body(Transaction(handle: transaction, map: self))
    }

    struct Transaction {
        fileprivate let handle: OpaquePointer?
        fileprivate let map: RawMap

        func put(_ row: RawRows.Row) throws { try put(row.id.bytes, row.json.bytes, in: map.items) }

        func putOperation(_ id: Int, for row: RawRows.Row, isNew: Bool) throws {
            try withUnsafeBytes(of: id) { key in
                try put(key, row.operation.bytes, in: map.operations)
                if isNew { try put(row.id.bytes, key, in: map.operationsOfItem) }
            }
        }

        /// Returns the id of the item's pending operation, and reads its properties.
        func operation(of row: RawRows.Row) throws -> Int? {
            var (key, value) = (row.id.bytes.value, MDB_val())
            guard mdb_get(handle, map.operationsOfItem, &key, &value) == MDB_SUCCESS else { return nil }
            let id = value.mv_data.loadUnaligned(as: Int.self)
            try withUnsafeBytes(of: id) { bytes in
                key = bytes.value
                try check(mdb_get(handle, map.operations, &key, &value))
            }
            return id
        }

        func get(_ id: RawText) throws -> Int {
            var (key, value) = (id.bytes.value, MDB_val())
            try check(mdb_get(handle, map.items, &key, &value))
            return value.mv_size
        }

        func checksum() throws -> Int {
            var sum = 7919 * (try count(map.operations))
            try forEachItem { value in
                guard case .object(let fields) = try ItemValue(json: value) else { return }
                sum += 1_000_003 + Int(fields["priority"]?.intValue ?? 0)
            }
            return sum
        }

        /// Reads all items in order and returns the sum of their sizes.
        func scan() throws -> Int {
            var sum = 0
            try forEachItem { sum += $0.count }
            return sum
        }

        private func forEachItem(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(handle, map.items, &cursor))
            defer { mdb_cursor_close(cursor) }
            var (key, value) = (MDB_val(), MDB_val())
            while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
                try body(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            }
        }

        private func count(_ database: MDB_dbi) throws -> Int {
            var status = MDB_stat()
            try check(mdb_stat(handle, database, &status))
            return status.ms_entries
        }

        private func put(
            _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in database: MDB_dbi
        ) throws {
            var (key, value) = (key.value, value.value)
            try check(mdb_put(handle, database, &key, &value, 0))
        }

        private func check(_ code: Int32) throws { try RawMap.check(code) }
    }

    private static func check(_ code: Int32) throws {
        guard code == MDB_SUCCESS else { throw WrongResult("LMDB: \(String(cString: mdb_strerror(code)))") }
    }
}

extension UnsafeRawBufferPointer {
    /// LMDB's API takes a mutable pointer, also where it only reads.
    fileprivate var value: MDB_val {
        MDB_val(mv_size: count, mv_data: UnsafeMutableRawPointer(mutating: baseAddress))
    }
}
