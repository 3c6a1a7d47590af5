// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// One check of one rule on one store: fresh stores, expectations, and what to clean up.
///
/// A rule's body runs on a thread of its own, because a store's calls block. Everything here is for that thread.
final class RuleRun {
    let rule: StoreRule
    let harness: any StoreHarness
    let seed: UInt64
    let effort: SuiteEffort
    let trace = Trace()
    private(set) var assertions = 0

    /// Where this run's stores are.
    let directory: String
    private var opened: [any SyncContextDataSource] = []
    private var mainStore: (any SyncContextDataSource)?

    init(_ rule: StoreRule, _ harness: any StoreHarness, seed: UInt64, effort: SuiteEffort) throws {
        self.rule = rule
        self.harness = harness
        self.seed = seed
        self.effort = effort
        let parent = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        directory = "\(parent)/conformance-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    // MARK: Stores

    /// The store that the rule is about, opened at first use with ``Fixture/tables``.
    var store: any SyncContextDataSource {
        get throws {
            if let mainStore { return mainStore }
            let store = try open()
            mainStore = store
            return store
        }
    }

    /// The path of a store of this run: each has a directory of its own, so that it can be copied whole.
    func path(_ name: String = "store") throws -> String {
        try FileManager.default.createDirectory(
            atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
        return "\(directory)/\(name)/store"
    }

    /// Opens a store, which is closed at the end unless it was before.
    func open(
        _ name: String = "store", tables: [SyncTableDefinition] = Fixture.tables
    ) throws -> any SyncContextDataSource {
        trace.note("open '\(name)' with \(tables.map(\.name).joined(separator: ", "))")
        let store = TracingStore(try harness.open(at: try path(name), tables: tables), trace: trace)
        opened.append(store)
        return store
    }

    /// Closes the store that the rule is about, and opens it again.
    func reopen(tables: [SyncTableDefinition] = Fixture.tables) throws {
        try store.close()
        mainStore = try open(tables: tables)
    }

    /// Runs the body with a store of its own, and closes it.
    func with<T>(
        _ name: String, tables: [SyncTableDefinition] = Fixture.tables,
        _ body: (any SyncContextDataSource) throws -> T
    ) throws -> T {
        let store = try open(name, tables: tables)
        let result = Result { try body(store) }
        try store.close()
        return try result.get()
    }

    /// Closes everything and looks for what was left behind.
    func finish() throws {
        for store in opened { try store.close() }
        opened = []
        mainStore = nil
        let leaks = OpenFiles.inside(directory)
        guard leaks.isEmpty else {
            throw failure("Files are still open after close().", expected: "none", actual: leaks.exactForm)
        }
    }

    /// Closes what can be closed and removes the run's files.
    func cleanUp() {
        for store in opened { try? store.close() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    // MARK: Expectations

    /// The two are the same, byte for byte.
    func expect<T: ExactlyShown>(
        _ actual: T, is expected: T, _ subject: @autoclosure () -> String
    ) throws {
        assertions += 1
        let (found, wanted) = (actual.exactForm, expected.exactForm)
        guard found.utf8.elementsEqual(wanted.utf8) else {
            throw failure(subject(), expected: wanted, actual: found)
        }
    }

    /// The condition holds.
    func expect(_ condition: Bool, _ subject: @autoclosure () -> String) throws {
        assertions += 1
        guard condition else { throw failure(subject(), expected: "true", actual: "false") }
    }

    /// The body throws a store error of that code.
    func expect<T>(
        throws code: StoreError.Code, _ subject: @autoclosure () -> String, _ body: () throws -> T
    ) throws {
        try expectError("StoreError.\(code)", subject(), body) { ($0 as? StoreError)?.code == code }
    }

    /// The body throws a sync error of that code.
    func expect<T>(
        throws code: SyncError.Code, _ subject: @autoclosure () -> String, _ body: () throws -> T
    ) throws {
        try expectError("SyncError of code \(code.rawValue)", subject(), body) {
            ($0 as? SyncError)?.code == code
        }
    }

    /// The body throws an error that passes the test.
    func expectError<T>(
        _ expected: String, _ subject: @autoclosure () -> String, _ body: () throws -> T,
        _ isExpected: (any Error) -> Bool
    ) throws {
        assertions += 1
        do {
            let result = try body()
            throw failure(subject(), expected: expected, actual: "no error, but \(result)")
        } catch let failure as StoreRuleFailure {
            throw failure
        } catch {
            guard isExpected(error) else {
                throw failure(subject(), expected: expected, actual: "\(type(of: error)): \(error)")
            }
        }
    }

    /// What is thrown when an expectation is not met.
    func failure(_ subject: String, expected: String, actual: String) -> StoreRuleFailure {
        StoreRuleFailure(
            ruleID: rule.id, sentence: rule.sentence, store: harness.name, subject: subject,
            expected: expected, actual: actual, operations: trace.tail(), seed: seed, effort: effort,
            remedy: rule.remedy)
    }
}
