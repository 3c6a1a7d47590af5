// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The work of a child process until it is killed: transactions derived from a seed, each acknowledged after
/// ``/SyncCore/SyncContextDataSource/write(_:)`` has returned.
///
/// ```swift
/// if let child = CrashChild(arguments: CommandLine.arguments.dropFirst()) { try child.run(MyHarness()) }
/// ```
public struct CrashChild: Sendable {
    private let path: String
    private let seed: UInt64
    private let count: Int
    private let crashingChange: Int?

    /// The first argument of a child process.
    public static let word = "crash-child"

    /// Parses the arguments that the suite passes to a child process; returns `nil` for other arguments.
    public init?(arguments: some Sequence<String>) {
        let words = Array(arguments)
        guard words.count == 5, words[0] == Self.word, let seed = UInt64(words[2]), let count = Int(words[3])
        else { return nil }
        path = words[1]
        self.seed = seed
        self.count = count
        crashingChange = Int(words[4])
    }

    static func arguments(path: String, seed: UInt64, count: Int, crashingChange: Int? = nil) -> [String] {
        [word, path, "\(seed)", "\(count)", crashingChange.map(String.init) ?? "never"]
    }

    /// Writes to the store at the path, continuing after the last committed transaction.
    public func run(_ harness: some StoreHarness) throws {
        let store = FaultingStore(try harness.open(at: path, tables: Fixture.tables))
        // Held until the process is killed.
        let locks = [try store.tryLockPush(), try store.tryLockSync()]
        defer { for lock in locks { lock?.release() } }
        store.onChange = { [crashingChange] number in if number == crashingChange { crash() } }
        for _ in 0..<count {
            let number = try store.write { transaction in
                let number = try transaction.lastOperationID() + 1
                try CrashScript(seed: seed).perform(number, transaction)
                return number
            }
            acknowledge(number)
        }
        try store.close()
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
            return Item(id: "i\(random.below(40))", fields: ["count": .int(number), "label": .text(label)])
        }
        try transaction.upsert(items, in: "Thing")
        try transaction.upsert([Item(id: "last", fields: ["label": .text("\(number)")])], in: "Thing2")
        try transaction.deleteItems(ids: ["i\(random.below(40))"], in: "Thing")
        try transaction.put(Fixture.operation(number, item: items[0].id))
        // Removes each operation once, out of order, so that the queue stays short.
        try transaction.removeOperation(id: number - (number % 2 == 0 ? 3 : 5))
        try transaction.put(Fixture.error(number))
        try transaction.removeOperationError(operationID: number - 2)
        try transaction.setConfigValue("\(number)", for: Fixture.key("last"))
    }
}
