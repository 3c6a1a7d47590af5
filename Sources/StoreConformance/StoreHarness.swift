// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Opens the stores that the rules check: all that an author implements to run the suite.
///
/// ```swift
/// struct MyHarness: StoreHarness {
///     func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
///         try MyStore(path: path, tables: tables)
///     }
/// }
/// ```
public protocol StoreHarness: Sendable {
    /// Opens the store at the path; creates it when it does not exist.
    ///
    /// The path is inside a directory that is created for one rule and removed afterwards with its contents. Different
    /// paths are different stores. An in-memory store ignores the path; a store on a server derives a name from it.
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource

    /// Removes what the store at the path keeps elsewhere, such as its tables on a server.
    ///
    /// The suite calls this once for each path of a rule, after it has closed the rule's stores. A store may not have been
    /// opened at the path.
    func removeStore(at path: String)

    /// The store's name in reports.
    var name: String { get }

    /// Whether a durable store keeps its data in a file or directory at its path, and possibly in other files beside it. The
    /// rules about files do not apply to other stores; the rules about servers do.
    var hasFilesAtPath: Bool { get }

    /// The program that opens the same store in a child process; `nil` skips the rules that need it.
    var child: ChildProgram? { get }

    /// Ends the server of the stores without a shutdown, as a crash does, and starts it again; `nil` skips the rules that
    /// need it. Returns when the server accepts connections.
    var crashServer: (@Sendable () throws -> Void)? { get }

    /// The faults of the connections to a server, which the rules inject; `nil` skips the rules that need them.
    var connectionFaults: (any ConnectionFaults)? { get }

    /// Stores in special situations: without space, with constraints, with commits of an app, of a newer format.
    var specialStores: SpecialStores { get }

    /// Rules that the store breaks by design, by id, each with the reason. Reports list them, and the store does not
    /// conform to their levels.
    var declaredDifferences: [String: String] { get }
}

extension StoreHarness {
    /// The name of the harness's type, without the suffix `Harness`.
    public var name: String {
        let type = String(describing: Self.self)
        return type.hasSuffix("Harness") && type != "Harness" ? String(type.dropLast(7)) : type
    }

    /// Removes nothing.
    public func removeStore(at path: String) {}

    /// The default is `true`.
    public var hasFilesAtPath: Bool { true }

    /// The default is `nil`: the rules that need a program are skipped.
    public var child: ChildProgram? { nil }

    /// The default is `nil`: the rules that need a server that crashes are skipped.
    public var crashServer: (@Sendable () throws -> Void)? { nil }

    /// The default is `nil`: the rules that need faults of connections are skipped.
    public var connectionFaults: (any ConnectionFaults)? { nil }

    /// The default has none: the rules about them do not apply.
    public var specialStores: SpecialStores { SpecialStores() }

    /// The default is empty.
    public var declaredDifferences: [String: String] { [:] }
}

/// A program that is started to write to a store, in most rules until it is killed.
public struct ChildProgram: Sendable {
    /// The path of the executable.
    public let executable: String
    /// The arguments before those that the suite adds.
    public let arguments: [String]

    /// Creates a description of a program, which must pass the suite's arguments to ``CrashChild``.
    ///
    /// A program whose `main` calls `ConformanceCommand.main(stores:)` does that with the arguments `child` and the name of
    /// the store.
    public init(executable: String, arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }
}
