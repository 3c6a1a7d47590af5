// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A page of data version 1 of LMDB, in the word size of the machine, which is little-endian.
struct LMDBPage {
    enum Kind: UInt16 {
        case branch = 1
        case leaf = 2
        case overflow = 4
        case meta = 8
    }

    static let wordSize = MemoryLayout<UInt>.size
    static let headerSize = wordSize + 8
    /// The page sizes that LMDB supports.
    static let sizes = [4096, 8192, 16_384, 32_768]

    /// The page, or its header only.
    let bytes: UnsafeRawBufferPointer

    var number: UInt { load(UInt.self, at: 0) }
    var kind: Kind? { Kind(rawValue: load(UInt16.self, at: Self.wordSize + 2)) }
    /// The number of pages that an overflow page and its continuation have.
    var overflowCount: Int { Int(load(UInt32.self, at: Self.wordSize + 4)) }

    /// The nodes of a branch or leaf page; `nil` when they do not fill the used part of the page without overlapping.
    var nodes: [LMDBNode]? {
        let lower = Int(load(UInt16.self, at: Self.wordSize + 4))
        let upper = Int(load(UInt16.self, at: Self.wordSize + 6))
        guard Self.headerSize < lower, lower.isMultiple(of: 2), lower <= upper, upper <= bytes.count else {
            return nil
        }
        let hasValues = kind == .leaf
        var nodes: [LMDBNode] = []
        nodes.reserveCapacity((lower - Self.headerSize) / 2)
        for position in stride(from: Self.headerSize, to: lower, by: 2) {
            let start = Int(load(UInt16.self, at: position))
            guard start >= upper, start.isMultiple(of: 2), start + LMDBNode.headerSize <= bytes.count else {
                return nil
            }
            let node = LMDBNode(bytes: UnsafeRawBufferPointer(rebasing: bytes[start...]))
            guard node.size(hasValue: hasValues) <= node.bytes.count, node.key.count <= LMDBNode.maxKeySize
            else { return nil }
            nodes.append(node)
        }
        // LMDB keeps the nodes packed at the end of the page, in any order and with even sizes. It moves all bytes of a page
        // by the size of a removed node, so that a wrong size would overwrite other nodes, or memory beyond the page.
        var packed = 0
        for node in nodes.sorted(by: { $0.bytes.count < $1.bytes.count }) {
            let size = node.size(hasValue: hasValues)
            packed += size + size % 2
            guard node.bytes.count == packed else { return nil }
        }
        return packed == bytes.count - upper ? nodes : nil
    }

    func load<T: BitwiseCopyable>(_ type: T.Type, at offset: Int) -> T {
        bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }
}

/// An entry of a page: a key with its value, or with the page below it.
struct LMDBNode {
    static let headerSize = 8
    /// LMDB refuses longer keys, unless it is built with another limit.
    static let maxKeySize = 511

    /// From the beginning of the node to the end of its page.
    let bytes: UnsafeRawBufferPointer

    var flags: UInt16 { part(2) }
    /// Whether the value is on overflow pages, and the node contains the number of the first one.
    var hasOverflowPages: Bool { flags == 1 }
    var valueSize: Int { Int(part(0)) | Int(part(1)) << 16 }
    /// The page below a node of a branch page.
    var child: UInt { UInt(part(0)) | UInt(part(1)) << 16 | (UInt.bitWidth > 32 ? UInt(part(2)) << 32 : 0) }
    var key: UnsafeRawBufferPointer { slice(Self.headerSize, keySize) }
    /// The value, or the number of its first overflow page.
    var value: UnsafeRawBufferPointer { slice(Self.headerSize + keySize, storedValueSize) }

    private var keySize: Int { Int(part(3)) }
    private var storedValueSize: Int { hasOverflowPages ? LMDBPage.wordSize : valueSize }

    func size(hasValue: Bool) -> Int { Self.headerSize + keySize + (hasValue ? storedValueSize : 0) }

    private func part(_ index: Int) -> UInt16 {
        bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
    }

    private func slice(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }
}
