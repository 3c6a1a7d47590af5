// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The work of a child process: transactions, each acknowledged after
/// ``/SyncCore/SyncContextDataSource/write(_:)`` has returned. Most rules kill the process while it works.
///
/// ```swift
/// if let child = CrashChild(arguments: CommandLine.arguments.dropFirst()) { try child.run(MyHarness()) }
/// ```
public struct CrashChild: Sendable {
    private let path: String
    private let seed: UInt64
    private let count: Int
    private let work: Work

    /// The first argument of a child process.
    public static let word = "crash-child"

    /// What the transactions change.
    enum Work: Sendable {
        /// All kinds of data, as ``CrashScript``. The process holds the locks, and kills itself before the change of that
        /// number.
        case script(crashingChange: Int?)
        /// A count, as ``IncrementScript``.
        case increments
        /// An item of the number that is passed as count. The process reports the ``Opening`` instead of an id.
        case opening
        /// Nothing. The process reports which locks it has acquired, as ``Locks``, and releases them.
        case locks
        /// Transactions of many megabytes, as ``LargeScript``.
        case large

        init(word: String) {
            self =
                switch word {
                case "increments": .increments
                case "opening": .opening
                case "locks": .locks
                case "large": .large
                default: .script(crashingChange: Int(word))
                }
        }

        var word: String {
            switch self {
            case .script(let crashingChange): crashingChange.map(String.init) ?? "never"
            case .increments: "increments"
            case .opening: "opening"
            case .locks: "locks"
            case .large: "large"
            }
        }
    }

    /// The locks that a process has acquired.
    enum Locks: Int64, Sendable {
        case none, push, sync, both
    }

    /// What the opening of a store by a process resulted in.
    enum Opening: Int64, Sendable {
        case refused, succeeded, failed
    }

    /// Parses the arguments that the suite passes to a child process; returns `nil` for other arguments.
    public init?(arguments: some Sequence<String>) {
        let words = Array(arguments)
        guard words.count == 5, words[0] == Self.word, let seed = UInt64(words[2]), let count = Int(words[3])
        else { return nil }
        path = words[1]
        self.seed = seed
        self.count = count
        work = Work(word: words[4])
    }

    static func arguments(path: String, seed: UInt64, count: Int, _ work: Work) -> [String] {
        [word, path, "\(seed)", "\(count)", work.word]
    }

    /// Writes to the store at the path, continuing after the last committed transaction.
    public func run(_ harness: some StoreHarness) throws {
        let store: any SyncContextDataSource
        do { store = try harness.open(at: path, tables: Fixture.tables) } catch {
            guard case .opening = work else { throw error }
            let isRefused = (error as? StoreError)?.code == .alreadyOpen
            acknowledge((isRefused ? Opening.refused : .failed).rawValue)
            if isRefused { return }
            throw error
        }
        switch work {
        case .script(let crashingChange): try runScript(in: FaultingStore(store), crashingChange)
        case .increments:
            for _ in 0..<count { acknowledge(try IncrementScript.perform(in: store, item: "child")) }
        case .opening:
            try store.write { try $0.upsert([Item(id: "child\(count)")], in: "Thing") }
            acknowledge(Opening.succeeded.rawValue)
        case .locks:
            let (push, sync) = (try store.tryLockPush(), try store.tryLockSync())
            acknowledge((push == nil ? 0 : Locks.push.rawValue) + (sync == nil ? 0 : Locks.sync.rawValue))
            push?.release()
            sync?.release()
        case .large:
            for _ in 0..<count { acknowledge(try store.write(LargeScript.perform)) }
        }
        try store.close()
    }

    private func runScript(in store: FaultingStore, _ crashingChange: Int?) throws {
        // Held until the process is killed.
        let locks = [try store.tryLockPush(), try store.tryLockSync()]
        defer { for lock in locks { lock?.release() } }
        store.onChange = { number in if number == crashingChange { crash() } }
        for _ in 0..<count {
            let number = try store.write { transaction in
                let number = try transaction.lastOperationID() + 1
                try CrashScript(seed: seed).perform(number, transaction)
                return number
            }
            acknowledge(number)
        }
    }
}

/// Transactions that change every kind of data, each derived only from the seed and its number.
struct CrashScript {
    let seed: UInt64
    /// The number of changes in a transaction.
    static let length = 8

    func perform(_ number: Int64, _ transaction: any StoreTransaction) throws {
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        let items = (0..<6).map { _ in
            let label = String(repeating: "\(number) ", count: random.once(in: 8) ? 3000 : 5)
            let mark = ItemValue.text("m\(random.below(4))")
            return Item(
                id: "i\(random.below(40))",
                fields: ["count": .int(number), "label": .text(label), "mark": mark])
        }
        try transaction.upsert(items, in: "Thing")
        try transaction.upsert([Item(id: "last", fields: ["label": .text("\(number)")])], in: "Thing2")
        try transaction.deleteItems(ids: ["i\(random.below(40))"], in: "Thing")
        try transaction.put(Fixture.operation(number, item: items[0].id))
        // Removes each operation once, out of order, so that the queue stays short.
        let old = number - (number % 2 == 0 ? 3 : 5)
        if old > 0 { try transaction.removeOperation(id: old) }
        try transaction.put(Fixture.error(number))
        if number > 2 { try transaction.removeOperationError(operationID: number - 2) }
        try transaction.setConfigValue("\(number)", for: Fixture.key("last"))
    }
}

/// Transactions of ten megabytes.
enum LargeScript {
    static let ids = (0..<25).map { "large\($0)" }

    /// - Returns: the number of the transaction.
    static func perform(_ transaction: any StoreTransaction) throws -> Int64 {
        let number = (try transaction.item(id: ids[0], in: "Thing")?["count"]?.intValue ?? 0) + 1
        let text = String(repeating: "0123456789", count: 40_000)
        for id in ids {
            try transaction.upsert(
                [Item(id: id, fields: ["count": .int(number), "label": .text(text)])], in: "Thing")
        }
        return number
    }

    /// Returns the numbers of the transactions that have written the items.
    static func numbers(in snapshot: any StoreSnapshot) throws -> Set<Int64?> {
        Set(try ids.map { try snapshot.item(id: $0, in: "Thing")?["count"]?.intValue })
    }
}

/// Increments of the count of the item `n`, each with an operation.
enum IncrementScript {
    /// - Parameter item: the item of the operation.
    /// - Returns: the id of the operation.
    static func perform(in store: any SyncContextDataSource, item: String) throws -> Int64 {
        try store.write { transaction in
            let id = try transaction.lastOperationID() + 1
            let count = try transaction.item(id: "n", in: "Thing")?["count"]?.intValue ?? 0
            // Other writes begin before this one ends.
            Thread.sleep(forTimeInterval: 0.0002)
            try transaction.upsert([Item(id: "n", fields: ["count": .int(count + 1)])], in: "Thing")
            try transaction.put(Fixture.operation(id, item: item))
            return id
        }
    }
}
