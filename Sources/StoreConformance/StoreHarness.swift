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
    /// paths are different stores. An in-memory store ignores the path.
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource

    /// The store's name in reports.
    var name: String { get }

    /// The program that opens the same store in a child process to be killed; `nil` skips the rules that need it.
    var child: ChildProgram? { get }

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

    /// No program.
    public var child: ChildProgram? { nil }

    /// None.
    public var declaredDifferences: [String: String] { [:] }
}

/// A program that is started to write to a store until it is killed.
public struct ChildProgram: Sendable {
    /// The path of the executable.
    public let executable: String
    /// The arguments before those that the suite adds.
    public let arguments: [String]

    /// Creates a description of a program, which must pass the suite's arguments to ``CrashChild``.
    public init(executable: String, arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }
}
