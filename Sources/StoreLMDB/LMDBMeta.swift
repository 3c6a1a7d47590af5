// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A meta page of data version 1 of LMDB: the trees that one transaction has committed.
struct LMDBMeta {
    static let knownVersion: UInt32 = 1
    /// The size of the used part of a meta page.
    static let size = trees + 2 * Tree.size + 2 * LMDBPage.wordSize

    private static let magic: UInt32 = 0xBEEF_C0DE
    private static let mapSizeOffset = LMDBPage.headerSize + 8 + LMDBPage.wordSize
    private static let trees = mapSizeOffset + LMDBPage.wordSize

    let version: UInt32
    /// The size of the map of the transaction, which bounds the file.
    let mapSize: UInt
    let pageSize: Int
    let freeList: Tree
    let main: Tree
    let lastPage: UInt
    let transaction: UInt

    /// Returns `nil` for another kind of page.
    init?(_ page: LMDBPage) {
        guard page.kind == .meta, page.load(UInt32.self, at: LMDBPage.headerSize) == Self.magic else {
            return nil
        }
        version = page.load(UInt32.self, at: LMDBPage.headerSize + 4)
        mapSize = page.load(UInt.self, at: Self.mapSizeOffset)
        freeList = Tree(page, at: Self.trees)
        main = Tree(page, at: Self.trees + Tree.size)
        // LMDB stores the page size in the first field of the list of free pages.
        pageSize = Int(page.load(UInt32.self, at: Self.trees))
        lastPage = page.load(UInt.self, at: Self.trees + 2 * Tree.size)
        transaction = page.load(UInt.self, at: Self.trees + 2 * Tree.size + LMDBPage.wordSize)
    }

    /// A B+ tree.
    struct Tree {
        static let size = 8 + 5 * LMDBPage.wordSize

        let flags: UInt16
        let depth: Int
        /// The root page; `nil` when the tree is empty.
        let root: UInt?

        fileprivate init(_ page: LMDBPage, at offset: Int) {
            flags = page.load(UInt16.self, at: offset + 4)
            depth = Int(page.load(UInt16.self, at: offset + 6))
            let root = page.load(UInt.self, at: offset + 8 + 4 * LMDBPage.wordSize)
            self.root = root == .max ? nil : root
        }
    }
}
