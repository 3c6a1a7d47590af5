// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Makes the stores that the rules look at: all that an author writes to have a store checked.
///
/// ```swift
/// struct MyHarness: StoreHarness {
///     func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
///         try MyStore(path: path, tables: tables)
///     }
/// }
/// ```
public protocol StoreHarness: Sendable {
    /// Opens the store at that path, or makes it when there is none.
    ///
    /// The path is in a directory made for one rule, which is removed afterwards with all that is in it. Different
    /// paths are different stores. A store that lives in memory ignores the path.
    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource

    /// What reports call the store.
    var name: String { get }

    /// The program that opens the same store in a process of its own, to be killed; `nil` leaves those rules out.
    var child: ChildProgram? { get }

    /// Rules that the store knowingly breaks, each with the reason. Reports show them, and the level is lost.
    var declaredDifferences: [String: String] { get }
}

extension StoreHarness {
    /// The harness's own name, without the word.
    public var name: String {
        let type = String(describing: Self.self)
        return type.hasSuffix("Harness") && type != "Harness" ? String(type.dropLast(7)) : type
    }

    /// No program.
    public var child: ChildProgram? { nil }

    /// None.
    public var declaredDifferences: [String: String] { [:] }
}

/// A program that can be started to work on a store until it is killed.
public struct ChildProgram: Sendable {
    /// The executable's path.
    public let executable: String
    /// What comes before the arguments that the suite adds.
    public let arguments: [String]

    /// Names a program. It must pass the arguments it gets after these to ``CrashChild``.
    public init(executable: String, arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }
}
