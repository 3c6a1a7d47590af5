// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLMDB
import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Checks the structure of a file before LMDB maps it.
///
/// LMDB has no checksums and trusts its pages: a wrong page number or size makes it access memory beyond the file or fail
/// an assertion, and both end the process. The check reads all pages except the values on overflow pages.
struct LMDBFileCheck {
    private enum TreeKind { case items, freeList }

    /// The maximum depth of LMDB's trees.
    private static let maximumDepth = 32

    private let path: String
    private let descriptor: Int32
    private let fileSize: Int
    private var pageSize = 0
    private var lastPage: UInt = 0
    private var lastTransaction: UInt = 0
    /// The pages of the file that the check has found. A page is used once or free once, so the check detects cycles.
    private var found: Set<UInt> = []
    /// The free pages after the end of the file.
    private var freeAfterEnd: Set<UInt> = []
    /// The key before the next one in its tree; empty at the beginning.
    private var previousKey: [UInt8] = []

    /// The size up to which a file is always checked. The state of a file does not show a change within one tick of the file
    /// system's clock, some milliseconds on most systems; checking a small file takes no longer than that.
    private static let alwaysCheckedSize = 4 << 20

    /// Checks a file, unless it is as the last commit left it, is empty or has a version that LMDB refuses.
    ///
    /// - Returns: the state of the checked or unchanged file; `nil` if the file does not exist or is empty.
    /// - Throws: ``StoreError/Code/corrupt`` when the file is damaged or is not an LMDB file;
    ///   ``StoreError/Code/cannotOpen``.
    @discardableResult
    static func run(path: String, lastCommit: LMDBCommittedState) throws -> LMDBFileState? {
        try run(path: path) { state in
            state.size <= alwaysCheckedSize || !lastCommit.isRecorded(state)
        } didCheck: {
            lastCommit.record($0)
        }
    }

    /// Returns the state of a file without checking it; `nil` if the file does not exist or is empty.
    static func state(path: String) throws -> LMDBFileState? { try run(path: path) { _ in false } }

    /// Checks a file if its state requires that.
    @discardableResult
    static func run(
        path: String, where needsCheck: (LMDBFileState) -> Bool, didCheck: (LMDBFileState) -> Void = { _ in }
    ) throws -> LMDBFileState? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw LMDBError(code: errno).storeError(opening: path) }
        defer { close(descriptor) }
        let state: LMDBFileState
        do throws(LMDBError) { state = try LMDBFileState(of: descriptor) } catch {
            throw error.storeError(opening: path)
        }
        guard state.size > 0 else { return nil }
        guard needsCheck(state) else { return state }
        var check = LMDBFileCheck(path: path, descriptor: descriptor, fileSize: state.size)
        try check.run()
        didCheck(state)
        return state
    }

    private init(path: String, descriptor: Int32, fileSize: Int) {
        self.path = path
        self.descriptor = descriptor
        self.fileSize = fileSize
    }

    private mutating func run() throws {
        guard let meta = try newestMeta() else { return }
        (lastPage, lastTransaction) = (meta.lastPage, meta.transaction)
        try check(meta.main, .items)
        try check(meta.freeList, .freeList)
    }

    // MARK: Meta pages

    /// Returns the meta page of the last transaction; `nil` when LMDB refuses its version.
    private mutating func newestMeta() throws -> LMDBMeta? {
        let first = try meta(number: 0)
        guard first.version == LMDBMeta.knownVersion else { return nil }
        guard LMDBPage.sizes.contains(first.pageSize) else { throw damaged("its page size is invalid") }
        pageSize = first.pageSize
        let second = try meta(number: 1)
        let (newest, oldest) = second.transaction > first.transaction ? (second, first) : (first, second)
        // Transaction n writes meta page n % 2. In a new file both are 0.
        let isOnItsPage = newest.transaction.isMultiple(of: 2) == (second.transaction <= first.transaction)
        guard second.version == first.version, second.pageSize == pageSize, isOnItsPage,
            newest.transaction == 0 || newest.transaction - oldest.transaction == 1
        else { throw damaged("its meta pages contradict each other") }
        guard newest.lastPage > 0, newest.lastPage < newest.mapSize / UInt(pageSize),
            newest.lastPage < UInt(Int.max / pageSize)
        else {
            throw damaged("its size is invalid")
        }
        return newest
    }

    private func meta(number: Int) throws -> LMDBMeta {
        try read(LMDBMeta.size, at: number * pageSize).withUnsafeBytes {
            guard let meta = LMDBMeta(LMDBPage(bytes: $0)) else {
                throw damaged("its page \(number) is not a meta page")
            }
            return meta
        }
    }

    // MARK: Trees

    private mutating func check(_ tree: LMDBMeta.Tree, _ kind: TreeKind) throws {
        // The field of the list of free pages also has flags of the file.
        let order = tree.flags & UInt16(MDB_REVERSEKEY | MDB_DUPSORT | MDB_INTEGERKEY | MDB_DUPFIXED)
        guard order == (kind == .freeList ? UInt16(MDB_INTEGERKEY) : 0) else {
            throw damaged("its keys are not in the order of a store")
        }
        guard tree.root == nil ? tree.depth == 0 : (1...Self.maximumDepth).contains(tree.depth) else {
            throw damaged("the depth of a tree is invalid")
        }
        guard let root = tree.root else { return }
        previousKey = []
        try checkPage(root, depth: tree.depth, kind)
    }

    private mutating func checkPage(_ number: UInt, depth: Int, _ kind: TreeKind) throws {
        let start = try find(number)
        try read(pageSize, at: start).withUnsafeBytes { bytes in
            let page = LMDBPage(bytes: bytes)
            guard page.number == number, page.kind == (depth > 1 ? .branch : .leaf), let nodes = page.nodes
            else { throw damaged("its page \(number) is invalid") }
            guard depth > 1 else {
                for node in nodes { try check(node, onPage: number, kind) }
                return
            }
            // LMDB asserts this for the tree of the items.
            guard nodes.count > 1 || kind == .freeList else {
                throw damaged("its page \(number) is incomplete")
            }
            for node in nodes { try checkPage(node.child, depth: depth - 1, kind) }
        }
    }

    private mutating func check(_ node: LMDBNode, onPage number: UInt, _ kind: TreeKind) throws {
        guard node.flags == 0 || node.hasOverflowPages, isAfterPreviousKey(node.key, kind) else {
            throw damaged("its page \(number) has an invalid entry")
        }
        previousKey.removeAll(keepingCapacity: true)
        previousKey.append(contentsOf: node.key)
        guard node.hasOverflowPages else {
            if kind == .freeList { try checkFreePages(node.value) }
            return
        }
        let start = try checkOverflowPages(node.value.word(at: 0), size: node.valueSize)
        if kind == .freeList {
            try read(node.valueSize, at: start).withUnsafeBytes { try checkFreePages($0) }
        }
    }

    private func isAfterPreviousKey(_ key: UnsafeRawBufferPointer, _ kind: TreeKind) -> Bool {
        if kind == .freeList {
            // The number of the transaction that has freed the pages.
            guard key.count == LMDBPage.wordSize else { return false }
            let previous = previousKey.isEmpty ? 0 : previousKey.withUnsafeBytes { $0.word(at: 0) }
            return previous < key.word(at: 0) && key.word(at: 0) <= lastTransaction
        }
        return previousKey.withUnsafeBytes { previous in
            guard let keyStart = key.baseAddress, !key.isEmpty else { return false }
            guard let previousStart = previous.baseAddress, !previous.isEmpty else { return true }
            let order = memcmp(previousStart, keyStart, min(previous.count, key.count))
            return order < 0 || (order == 0 && previous.count < key.count)
        }
    }

    /// Returns the offset of the value in the file.
    private mutating func checkOverflowPages(_ first: UInt, size: Int) throws -> Int {
        let start = try find(first)
        let count = try read(LMDBPage.headerSize, at: start).withUnsafeBytes { bytes in
            let page = LMDBPage(bytes: bytes)
            guard page.number == first, page.kind == .overflow,
                page.overflowCount * pageSize >= LMDBPage.headerSize + size
            else { throw damaged("its page \(first) is invalid") }
            return UInt(page.overflowCount)
        }
        for number in first + 1..<first + count { _ = try find(number) }
        return start + LMDBPage.headerSize
    }

    /// Checks a value of the list of free pages: a count, then page numbers in descending order.
    private mutating func checkFreePages(_ list: UnsafeRawBufferPointer) throws {
        let count = list.count < LMDBPage.wordSize ? .max : list.word(at: 0)
        guard count < UInt(list.count / LMDBPage.wordSize) else {
            throw damaged("its free pages are invalid")
        }
        for index in 0..<Int(count) {
            let number = list.word(at: index + 1)
            guard number <= lastPage, index == 0 || number < list.word(at: index) else {
                throw damaged("its free pages are invalid")
            }
            // LMDB does not write a new page that its transaction no longer needs, also at the end of the file.
            if number < pageCount {
                _ = try find(number)
            } else if !freeAfterEnd.insert(number).inserted {
                throw damaged("its page \(number) is free twice")
            }
        }
    }

    // MARK: Pages

    /// The number of whole pages in the file, which can be sparse.
    private var pageCount: UInt { UInt(fileSize / pageSize) }

    /// Records the page as found; returns its offset in the file.
    private mutating func find(_ number: UInt) throws -> Int {
        guard number > 1, number <= lastPage else { throw damaged("it has no page \(number)") }
        guard number < pageCount else { throw damaged("it ends before its page \(number)") }
        guard found.insert(number).inserted else { throw damaged("its page \(number) is used twice") }
        return Int(number) * pageSize
    }

    /// Reads without mapping the file: accessing a page beyond its end would end the process.
    private func read(_ count: Int, at offset: Int) throws -> [UInt8] {
        var failure: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let result = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
                if result > 0 {
                    filled += result
                } else if result == 0 || errno != EINTR {
                    if result < 0 { failure = errno }
                    return
                }
            }
        }
        if let failure { throw LMDBError(code: failure).storeError(opening: path) }
        guard bytes.count == count else { throw damaged("it ends too early") }
        return bytes
    }

    private func damaged(_ reason: String) -> StoreError {
        StoreError(
            .corrupt,
            """
            '\(path)' is damaged or is not an LMDB file: \(reason). Restore a copy of the file, or move it away and pull \
            again.
            """)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func word(at index: Int) -> UInt {
        loadUnaligned(fromByteOffset: index * LMDBPage.wordSize, as: UInt.self)
    }
}
