// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncCore

/// Runs scripts on a store and on the memory store, and compares what they say at every step.
struct ModelMachine {
    /// Opens a store. The same place is the same store; every run takes a place of its own.
    let open: (_ place: Int) throws -> any SyncContextDataSource

    /// Where the two differed.
    struct Difference: Error {
        let subject: String
        let expected: String
        let actual: String
    }

    /// Runs the steps, and looks at everything now and then.
    ///
    /// - Returns: a hash of all that the store answered.
    /// - Throws: ``Difference``.
    func run(_ steps: [ModelStep], at place: Int) throws -> UInt64 {
        var pair = ModelPair(model: try MemoryStore(tables: Fixture.tables), store: try open(place))
        var isOpen = true
        defer { if isOpen { try? pair.store.close() } }
        for (index, step) in steps.enumerated() {
            do {
                if case .reopen = step {
                    try pair.store.close()
                    pair.store = try open(place)
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

/// The two stores, side by side.
private struct ModelPair {
    let model: MemoryStore
    var store: any SyncContextDataSource
    private(set) var hash = ExactHash.start

    mutating func perform(_ step: ModelStep) throws {
        switch step {
        case .write(let acts, let fails):
            let found = try Self.write(acts, fails, to: store)
            try compare(found, try Self.write(acts, fails, to: model), acts)
        case .read(let questions, let fails):
            let found = try Self.read(questions, fails, from: store)
            try compare(found, try Self.read(questions, fails, from: model), questions)
        case .reopen: break
        }
    }

    /// Closes both; neither may be read from after that.
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
            return "StoreError.\(error.code)\(error.message.isEmpty ? ", without a word" : "")"
        } catch {
            return "\(type(of: error))"
        }
    }

    mutating func compareAll() throws {
        let (found, expected) = (try StoreDump(store).lines, try StoreDump(model).lines)
        try compare(
            [found.joined(separator: "\n")], [expected.joined(separator: "\n")], ["all that there is"])
    }

    private static func write(
        _ acts: [ModelAct], _ fails: Bool, to store: any SyncContextDataSource
    ) throws -> [String] {
        var answers: [String] = []
        do {
            try store.write { transaction in
                for act in acts { answers.append(try act.tell(transaction)) }
                if fails { throw AppError() }
            }
        } catch is AppError {
            answers.append("undone")
        }
        return answers
    }

    private static func read(
        _ questions: [ModelQuestion], _ fails: Bool, from store: any SyncContextDataSource
    ) throws -> [String] {
        // Outside the body: one that runs twice answers twice.
        var answers: [String] = []
        do {
            try store.read { snapshot in
                for question in questions { answers.append(try question.tell(snapshot)) }
                if fails { throw AppError() }
            }
        } catch is AppError {
            answers.append("given up")
        }
        return answers
    }

    private mutating func compare(
        _ found: [String], _ expected: [String], _ subjects: [some CustomStringConvertible]
    ) throws {
        for index in 0..<max(found.count, expected.count) {
            let (actual, wanted) = (found[at: index] ?? "nothing", expected[at: index] ?? "nothing")
            guard actual.utf8.elementsEqual(wanted.utf8) else {
                throw ModelMachine.Difference(
                    subject: subjects[at: index]?.description ?? "the transaction's end", expected: wanted,
                    actual: actual)
            }
            hash = ExactHash.of(actual.utf8, after: hash)
        }
    }
}

extension Array {
    fileprivate subscript(at index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
