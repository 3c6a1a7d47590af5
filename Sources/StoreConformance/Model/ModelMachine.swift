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
        defer { try? pair.store.close() }
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
        case .read(let questions):
            let found = try store.read { snapshot in try questions.map { try $0.answer(snapshot) } }
            try compare(
                found, try model.read { snapshot in try questions.map { try $0.answer(snapshot) } }, questions
            )
        case .reopen: break
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
                for act in acts { answers.append(try act.perform(transaction)) }
                if fails { throw AppError() }
            }
        } catch is AppError {
            answers.append("undone")
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
