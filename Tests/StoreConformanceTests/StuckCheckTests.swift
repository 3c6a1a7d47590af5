// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Checks that do not end by themselves, or only after a long time.
struct StuckCheckTests {
    @Test func `a stuck check ends its child processes`() async throws {
        let paths = Shared<[String]>([])
        let rule = try #require(StoreRule.named("crash.locks"))
        let failure = try await #require(throws: StoreRuleFailure.self) {
            try await rule.check(WithEndlessChild(paths: paths), limit: .milliseconds(500))
        }
        #expect(failure.subject == "The check did not finish.")
        for path in paths.value {
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
                .deletingLastPathComponent().path
            #expect(ChildProcesses.count(in: directory) == 0)
            #expect(throws: (any Error).self) { _ = try startEndlessChild(in: directory) }
        }
    }

    @Test func `processes are ended by the directory that they work in`() throws {
        let directory = "/conformance-\(UUID().uuidString)"
        var ended = try startEndlessChild(in: directory)
        var other = try startEndlessChild(in: directory + "-other")
        let first = [ended.next(), other.next()]
        #expect(first == [1, 1])
        ChildProcesses.end(in: directory)
        let second = ended.next()
        #expect(second == nil)
        let wasKilled = ended.wait()
        #expect(wasKilled)
        #expect(ChildProcesses.count(in: directory) == 0)
        #expect(ChildProcesses.count(in: directory + "-other") == 1)
        ChildProcesses.end(in: directory + "-other")
        let wasOtherKilled = other.wait()
        #expect(wasOtherKilled)
    }

    @Test func `a process that has exited was ended by no signal`() throws {
        let program = ChildProgram(executable: "/bin/sh", arguments: ["-c", "echo 7"])
        var child = try ChildProcess(program, arguments: [])
        let numbers = [child.next(), child.next()]
        #expect(numbers == [7, nil])
        let wasKilled = child.wait()
        #expect(!wasKilled)
    }

    #if canImport(Glibc)
        @Test func `a signal does not end the reading from a child process`() throws {
            #expect(handledSignals.load(ordering: .relaxed) == 0)
            // Without SA_RESTART, the signal interrupts a read.
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in
                handledSignals.add(1, ordering: .sequentiallyConsistent)
            }
            sigaction(SIGUSR1, &action, nil)
            let go = FileManager.default.temporaryDirectory.path + "/go-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: go) }
            let script = "echo 1; while [ ! -e '\(go)' ]; do :; done; echo 2"
            let program = ChildProgram(executable: "/bin/sh", arguments: ["-c", script])
            let numbers = Shared<[Int64?]>([])
            let reader = Shared<pthread_t?>(nil)
            let (hasStarted, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let thread = Thread {
                defer { hasEnded.signal() }
                guard var child = try? ChildProcess(program, arguments: []) else {
                    hasStarted.signal()
                    return
                }
                let first = child.next()
                // The thread inherits the mask of one that blocks signals.
                var mask = sigset_t()
                sigemptyset(&mask)
                sigaddset(&mask, SIGUSR1)
                pthread_sigmask(SIG_UNBLOCK, &mask, nil)
                let identifier = pthread_self()
                reader.change { $0 = identifier }
                hasStarted.signal()
                let second = child.next()
                numbers.change { $0 = [first, second] }
                _ = child.wait()
            }
            thread.start()
            hasStarted.wait()
            let identifier = try #require(reader.value)
            // One by one, because pending signals are merged: the reader is soon blocked when it receives them.
            for number in 1...500 {
                pthread_kill(identifier, SIGUSR1)
                while handledSignals.load(ordering: .sequentiallyConsistent) < number { sched_yield() }
            }
            #expect(FileManager.default.createFile(atPath: go, contents: nil))
            hasEnded.wait()
            #expect(numbers.value == [1, 2])
        }
    #endif

    @Test func `the number of scripts tried for a shorter one is limited, and is the same each time`()
        async throws
    {
        let rule = try #require(StoreRule.named("model.scripts"))
        var counts: [Int] = []
        for _ in 0..<2 {
            let opened = Shared(0)
            let failure = try await #require(throws: StoreRuleFailure.self) {
                try await rule.check(LateHarness(opened: opened))
            }
            #expect(failure.operations.count > 20)
            counts.append(opened.value)
        }
        #expect(counts[0] > 100)
        #expect(counts[0] <= 420)
        #expect(counts[0] == counts[1])
    }

    /// Starts a process that acknowledges the number 1 and does not end.
    private func startEndlessChild(in directory: String) throws -> ChildProcess {
        try ChildProcess(WithEndlessChild.program, arguments: ["word", "\(directory)/name/store"])
    }
}

#if canImport(Glibc)
    private let handledSignals = Atomic<Int>(0)
#endif

/// A durable store whose child program does not end.
private struct WithEndlessChild: StoreHarness {
    static let program = ChildProgram(
        executable: "/bin/sh", arguments: ["-c", "echo 1; exec tail -f /dev/null"])

    let paths: Shared<[String]>

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        paths.change { $0.append(path) }
        return try SQLiteHarness().open(at: path, tables: tables)
    }

    var child: ChildProgram? { Self.program }
}

/// Stores of which every write after the thirtieth fails, so that no short script shows a difference.
private struct LateHarness: StoreHarness {
    let opened: Shared<Int>

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        opened.change { $0 += 1 }
        return LateStore(base: try MemoryHarness().open(at: path, tables: tables))
    }
}

private struct LateStore: SyncContextDataSource {
    let base: any SyncContextDataSource
    private let writes = Shared(0)

    init(base: any SyncContextDataSource) { self.base = base }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try base.read(body) }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        guard writes.next() <= 30 else { throw StoreError(.inputOutput, "The thirtieth write was the last.") }
        return try base.write(body)
    }

    func close() throws { try base.close() }
}
