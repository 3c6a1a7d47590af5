// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// The app that a simulation runs: its tables, its conflict resolver, its settings and its store.
///
/// ```swift
/// var app = SimulatedApp(tables: [TodoItem.definition])
/// app.resolver = .fieldMerge(onClash: .serverWins)
/// for seed in UInt64(0)..<1000 {
///     if let failure = try Simulation(app: app).run(seed: seed).failure { print(failure) }
/// }
/// ```
public struct SimulatedApp: Sendable {
    /// The tables. Columns of every type except `bool` are edited; each edit has another value. Each table needs a synced column
    /// that is edited.
    public var tables: [SyncTableDefinition]
    /// The app's resolver; without one, each device of a seed draws one of the framework's resolvers, a resolver that
    /// edits, throws or never decides, or none. It must not leave the simulation's thread, as with `MainActor` or `Task.sleep`.
    public var resolver: ConflictResolver?
    /// Changes the settings that are drawn for a device. Set the resolver with ``resolver``, whose decisions are checked.
    public var configure: @Sendable (inout SyncSettings) -> Void = { _ in }
    /// Makes the databases of the devices; the default keeps them in memory.
    public var storage: SimulatedStorage = .memory
    /// Columns that the server computes: no edit changes them.
    var serverColumns: Set<String> = []
    /// Changes the drawn server.
    var configureServer: @Sendable (inout ModelServerTraits) -> Void = { _ in }

    /// Makes an app with these tables.
    public init(tables: [SyncTableDefinition]) {
        self.tables = tables
    }

    /// The framework's own test app: few columns, so that edits meet; a child table; a column that the server computes;
    /// and one that exists on the device only.
    static let standard: SimulatedApp = {
        let parent = SyncTableDefinition(
            "T",
            columns: [
                SyncColumn("a", .integer), SyncColumn("b", .text), SyncColumn("stamp", .integer),
                SyncColumn("note", .text, isLocalOnly: true),
            ])
        let child = SyncTableDefinition(
            "U", columns: [SyncColumn("parent", .text), SyncColumn("a", .double)], parents: ["T"])
        var app = SimulatedApp(tables: [parent, child])
        app.serverColumns = ["stamp", "parent"]
        return app
    }()

    /// The column that the server computes at every change, if it computes one.
    var computedColumn: String? { serverColumns.contains("stamp") ? "stamp" : nil }

    /// The table in which users count, and the column, which no server computes in such a seed; `nil` for other seeds and apps.
    func counter(seed: UInt64) -> (table: String, column: String)? {
        guard resolver == nil, let computedColumn, SimulationTheme.of(seed: seed) == .counters else {
            return nil
        }
        return (tables[0].name, computedColumn)
    }

    /// The column of a child with the id of its parent, which no act edits; `nil` for other tables.
    func parentColumn(of table: SyncTableDefinition) -> String? {
        serverColumns.contains("parent") && !table.parents.isEmpty ? "parent" : nil
    }

    /// - Throws: ``SyncError/Code/invalidTableDefinition`` for a table without a column that is edited.
    func validate() throws(SyncError) {
        for table in tables where editedColumns(of: table).isEmpty {
            throw SyncError(
                .invalidTableDefinition,
                "The table '\(table.name)' has no column that the simulation edits: add one that is synced and no Boolean."
            )
        }
        guard tables.isEmpty else { return }
        throw SyncError(.invalidTableDefinition, "The app has no tables to simulate.")
    }

    /// The columns of the table whose edits are checked.
    func editedColumns(of table: SyncTableDefinition) -> [SyncColumn] {
        table.columns.filter { !$0.isLocalOnly && $0.type != .bool && !serverColumns.contains($0.name) }
    }
}
