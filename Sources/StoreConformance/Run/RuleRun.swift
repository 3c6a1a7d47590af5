// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// One check of one rule on one store: fresh stores, expectations and cleanup.
///
/// A rule's body runs on its own thread, because a store's calls block. Only that thread uses this object.
final class RuleRun {
    let rule: StoreRule
    let harness: any StoreHarness
    let seed: UInt64
    let effort: SuiteEffort
    let trace = Trace()
    private(set) var assertions = 0

    /// The directory of this run's stores.
    let directory: String
    private var opened: [any SyncContextDataSource] = []
    private var paths: Set<String> = []
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

    /// The main store, opened at first use with ``Fixture/tables``.
    var store: any SyncContextDataSource {
        get throws {
            if let mainStore { return mainStore }
            let store = try open()
            mainStore = store
            return store
        }
    }

    /// Returns the path of a store of this run. Each store has its own directory, so that its files can be copied
    /// together.
    func path(_ name: String = "store") throws -> String {
        try FileManager.default.createDirectory(
            atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
        let path = "\(directory)/\(name)/store"
        paths.insert(path)
        return path
    }

    /// Opens a store, which `finish()` closes.
    func open(
        _ name: String = "store", tables: [SyncTableDefinition] = Fixture.tables
    ) throws -> any SyncContextDataSource {
        try open(name, at: try path(name), tables: tables)
    }

    /// Opens a store in a directory that does not exist, which `finish()` closes.
    ///
    /// - Parameter name: the path of the directory in the directory of this run.
    func open(inMissingDirectory name: String) throws -> any SyncContextDataSource {
        let path = "\(directory)/\(name)/store"
        paths.insert(path)
        return try open(name, at: path, tables: Fixture.tables)
    }

    /// Opens a store in a special situation, with ``Fixture/tables``, which `finish()` closes.
    func open(_ name: String, with opening: SpecialStores.Opening) throws -> any SyncContextDataSource {
        trace.record("open '\(name)' in a special situation")
        return adopt(try opening(try path(name), Fixture.tables))
    }

    /// Opens a store in an app's database, with ``Fixture/tables``, which `finish()` closes.
    func openWithApp(_ name: String, with opening: SpecialStores.AppOpening) throws
        -> SpecialStores.StoreWithApp
    {
        trace.record("open '\(name)' in an app's database")
        let pair = try opening(try path(name), Fixture.tables)
        return (adopt(pair.store), pair.addItem)
    }

    private func open(
        _ name: String, at path: String, tables: [SyncTableDefinition]
    ) throws -> any SyncContextDataSource {
        trace.record("open '\(name)' with \(tables.map(\.name).joined(separator: ", "))")
        return adopt(try harness.open(at: path, tables: tables))
    }

    /// Returns the store with a log of its calls; `finish()` closes it.
    private func adopt(_ store: any SyncContextDataSource) -> any SyncContextDataSource {
        let store = TracingStore(store, trace: trace)
        opened.append(store)
        return store
    }

    /// Closes the main store and opens it again.
    func reopen(tables: [SyncTableDefinition] = Fixture.tables) throws {
        try store.close()
        mainStore = try open(tables: tables)
    }

    /// Opens a store, runs the body with it, and closes it.
    func with<T>(
        _ name: String, tables: [SyncTableDefinition] = Fixture.tables,
        _ body: (any SyncContextDataSource) throws -> T
    ) throws -> T {
        let store = try open(name, tables: tables)
        let result = Result { try body(store) }
        try store.close()
        return try result.get()
    }

    /// Closes all stores and checks for open files.
    func finish() throws {
        for store in opened { try store.close() }
        opened = []
        mainStore = nil
        let leaks = OpenFiles.inside(directory)
        guard leaks.isEmpty else {
            throw failure("Files are open after close().", expected: "none", actual: leaks.exactDescription)
        }
    }

    /// Closes all stores, ignoring errors, and removes them.
    func cleanUp() {
        for store in opened { try? store.close() }
        for path in paths.sorted() { harness.removeStore(at: path) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    // MARK: Expectations

    /// Expects both values to be the same, byte for byte.
    func expect<T: ExactlyDescribed>(
        _ actual: T, is expected: T, _ subject: @autoclosure () -> String
    ) throws {
        assertions += 1
        let (actualText, expectedText) = (actual.exactDescription, expected.exactDescription)
        guard actualText.utf8.elementsEqual(expectedText.utf8) else {
            let difference = ShortDifference(expected: expectedText, actual: actualText)
            throw failure(subject(), expected: difference.expected, actual: difference.actual)
        }
    }

    /// Expects the condition to be true.
    func expect(_ condition: Bool, _ subject: @autoclosure () -> String) throws {
        assertions += 1
        guard condition else { throw failure(subject(), expected: "true", actual: "false") }
    }

    /// Expects the body to throw a store error with this code.
    func expect<T>(
        throws code: StoreError.Code, _ subject: @autoclosure () -> String, _ body: () throws -> T
    ) throws {
        try expectError("StoreError.\(code)", subject(), body) { ($0 as? StoreError)?.code == code }
    }

    /// Expects the body to throw a sync error with this code.
    func expect<T>(
        throws code: SyncError.Code, _ subject: @autoclosure () -> String, _ body: () throws -> T
    ) throws {
        try expectError("SyncError with code \(code.rawValue)", subject(), body) {
            ($0 as? SyncError)?.code == code
        }
    }

    /// Expects the body to throw an error that satisfies the predicate.
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

    /// Creates the failure for an unmet expectation.
    func failure(_ subject: String, expected: String, actual: String) -> StoreRuleFailure {
        StoreRuleFailure(
            ruleID: rule.id, sentence: rule.sentence, store: harness.name,
            subject: subject.shortened(to: 400),
            expected: expected.shortened(to: 800), actual: actual.shortened(to: 800),
            operations: trace.tail(),
            seed: seed, effort: effort, repetition: rule.repetition(on: harness, seed: seed, effort: effort),
            remedy: rule.remedy)
    }
}
