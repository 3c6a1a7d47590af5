// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
public import StoreConformance
import StoreConformanceMutants
import SyncCore
import Synchronization

/// The suite's command line, for any stores.
///
/// This is the complete source of an author's own executable:
/// ```swift
/// import StoreConformance
/// import StoreConformanceCommand
///
/// @main struct Main {
///     static func main() async { await ConformanceCommand.main(stores: ["mine": MyHarness()]) }
/// }
/// ```
public enum ConformanceCommand {
    private static let registered = Mutex<[String: any StoreHarness]>([:])

    /// Runs the command that the arguments name, and ends the process.
    ///
    /// - Parameter stores: the stores for `--store`, by name. A child process runs this executable again.
    public static func main(stores: [String: any StoreHarness]) async {
        registered.withLock { $0 = stores }
        await RootCommand.main()
    }

    /// Returns the harness with this name, with this executable as its child program.
    static func harness(named name: String) throws -> any StoreHarness {
        let stores = registered.withLock { $0 }
        var parts = name.split(separator: "+", maxSplits: 1).map(String.init)
        if parts.first == onlyStore, let only = stores.keys.first, stores.count == 1 { parts[0] = only }
        guard let harness = parts.first.flatMap({ stores[$0] }) else {
            throw ValidationError(
                "The store '\(name)' does not exist; use one of \(stores.keys.sorted().joined(separator: ", "))."
            )
        }
        let named = NamedHarness(name: parts[0], base: harness)
        guard parts.count == 2 else { return named }
        guard let mutant = StoreMutant.named(parts[1]) else {
            throw ValidationError("The mutant '\(parts[1])' does not exist; see 'mutants --matrix'.")
        }
        return MutantHarness(mutant, of: named)
    }

    /// The file name of this executable.
    static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "sync-conformance"
    }

    /// The store name that this program passes to another executable, which then uses its only store.
    private static let onlyStore = "own"

    /// If the store is a path, replaces this program by that executable, with the same arguments.
    static func runExecutable(at store: String) throws {
        guard store.contains("/") else { return }
        guard FileManager.default.isExecutableFile(atPath: store) else {
            throw ValidationError("'\(store)' is not an executable file.")
        }
        #if os(macOS) || os(Linux)
            let arguments = CommandLine.arguments.dropFirst().map { word in
                word == store ? onlyStore : word == "--store=\(store)" ? "--store=\(onlyStore)" : word
            }
            fflush(nil)
            // The executable inherits the mask, and a thread of tasks blocks the signals that would end the program.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            // The words stay until the process ends.
            let words = ([store] + arguments).map { strdup($0) } + [nil]
            execv(store, words)
            throw ValidationError("'\(store)' cannot be started: \(String(cString: strerror(errno))).")
        #else
            throw ValidationError("This system starts no other programs.")
        #endif
    }

    static var storeNames: [String] { registered.withLock { $0.keys.sorted() } }
}

/// A harness under the name it was registered with.
private struct NamedHarness: StoreHarness {
    let name: String
    let base: any StoreHarness

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        try base.open(at: path, tables: tables)
    }

    var child: ChildProgram? {
        base.child
            ?? Bundle.main.executablePath.map { ChildProgram(executable: $0, arguments: ["child", name]) }
    }

    func removeStore(at path: String) { base.removeStore(at: path) }

    var hasFilesAtPath: Bool { base.hasFilesAtPath }

    var crashServer: (@Sendable () throws -> Void)? { base.crashServer }

    var connectionFaults: (any ConnectionFaults)? { base.connectionFaults }

    var specialStores: SpecialStores { base.specialStores }

    var declaredDifferences: [String: String] { base.declaredDifferences }
}
