// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore

/// Runs scripts on a store and on the memory store (the model), and compares all results.
struct ModelMachine {
    /// Opens a store. The same index opens the same store; every run uses its own index.
    let open: (_ storeIndex: Int) throws -> any SyncContextDataSource

    /// A difference between the two stores.
    struct Difference: Error {
        let subject: String
        let expected: String
        let actual: String
    }

    /// Runs the steps; compares the complete contents every 20 steps and at the end.
    ///
    /// - Returns: a hash of all results of the store.
    /// - Throws: ``Difference``.
    func run(_ steps: [ModelStep], at storeIndex: Int) throws -> UInt64 {
        var pair = ModelPair(model: try MemoryStore(tables: Fixture.tables), store: try open(storeIndex))
        var isOpen = true
        defer { if isOpen { try? pair.store.close() } }
        for (index, step) in steps.enumerated() {
            do {
                if case .reopen = step {
                    try pair.store.close()
                    pair.store = try open(storeIndex)
                    try pair.compareAll()
                } else {
                    try pair.perform(step)
                }
                if index % 20 == 19 || index == steps.count - 1 { try pair.compareAll() }
            } catch let difference as Difference {
                throw difference
            } catch {
                throw Difference(subject: "\(step)", expected: "no error", actual: "\(error)")
            }
        }
        isOpen = false
        try pair.close()
        return pair.hash
    }
}

/// The model and the store under test.
private struct ModelPair {
    let model: MemoryStore
    var store: any SyncContextDataSource
    private(set) var hash = FNV1a.start

    mutating func perform(_ step: ModelStep) throws {
        switch step {
        case .write(let actions, let fails):
            let found = try Self.write(actions, fails, to: store)
            try compare(found, try Self.write(actions, fails, to: model), actions)
        case .read(let reads, let fails):
            let found = try Self.read(reads, fails, from: store)
            try compare(found, try Self.read(reads, fails, from: model), reads)
        case .reopen: break
        }
    }

    /// Closes both stores and checks that both refuse a read afterwards.
    mutating func close() throws {
        try store.close()
        model.close()
        try compare([Self.reading(store)], [Self.reading(model)], ["a read after close"])
    }

    private static func reading(_ store: any SyncContextDataSource) -> String {
        do {
            try store.read { _ in }
            return "no error"
        } catch let error as StoreError {
            return "StoreError.\(error.code)\(error.message.isEmpty ? ", without a message" : "")"
        } catch {
            return "\(type(of: error))"
        }
    }

    mutating func compareAll() throws {
        let (found, expected) = (try StoreDump(store).lines, try StoreDump(model).lines)
        try compare(
            [found.joined(separator: "\n")], [expected.joined(separator: "\n")], ["the complete contents"])
    }

    private static func write(
        _ actions: [ModelAction], _ fails: Bool, to store: any SyncContextDataSource
    ) throws -> [String] {
        var results: [String] = []
        do {
            try store.write { transaction in
                for action in actions { results.append(try action.result(transaction)) }
                if fails { throw AppError() }
            }
        } catch is AppError {
            results.append("rolled back")
        }
        return results
    }

    private static func read(
        _ reads: [ModelRead], _ fails: Bool, from store: any SyncContextDataSource
    ) throws -> [String] {
        // Declared outside the body, so that a body that runs twice appends its results twice.
        var results: [String] = []
        do {
            try store.read { snapshot in
                for read in reads { results.append(try read.result(snapshot)) }
                if fails { throw AppError() }
            }
        } catch is AppError {
            results.append("the read threw")
        }
        return results
    }

    private mutating func compare(
        _ found: [String], _ expected: [String], _ subjects: [some CustomStringConvertible]
    ) throws {
        for index in 0..<max(found.count, expected.count) {
            let (actual, expectedResult) = (found[at: index] ?? "nothing", expected[at: index] ?? "nothing")
            guard actual.utf8.elementsEqual(expectedResult.utf8) else {
                throw ModelMachine.Difference(
                    subject: subjects[at: index]?.description ?? "the transaction's end",
                    expected: expectedResult,
                    actual: actual)
            }
            hash = FNV1a.hash(actual.utf8, after: hash)
        }
    }
}

extension Array {
    fileprivate subscript(at index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
