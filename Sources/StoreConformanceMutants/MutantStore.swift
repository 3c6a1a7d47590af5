// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import StoreConformance
public import SyncCore

/// Opens mutants of another harness's stores.
public struct MutantHarness: StoreHarness {
    /// The mutant.
    public let mutant: StoreMutant
    /// Counts how often the flaw had an effect.
    public let hits = MutantHits()
    private let base: any StoreHarness
    private let server = MutantServer()
    /// The paths of base stores that a flaw opened in place of the rule's.
    private let otherPaths = Shared<Set<String>>([])

    /// Creates a harness for mutants of another harness's stores.
    public init(_ mutant: StoreMutant, of base: any StoreHarness) {
        self.mutant = mutant
        self.base = base
    }

    /// The flaw of a store at the path. A flaw also describes the harness, for which the path has no meaning.
    func flaw(at path: String = "", opened opening: StoreFlaw.Opening = .usual) -> StoreFlaw {
        var flaw = StoreFlaw(hits: hits, path: path, server: server, app: MutantApp(), opening: opening)
        mutant.build(&flaw)
        return flaw
    }

    /// The name of the base harness and the mutant's id.
    public var name: String { "\(base.name)+\(mutant.id)" }

    /// The child program of the base harness, with the mutant's id in its store argument.
    public var child: ChildProgram? {
        base.child.map { child in
            var arguments = child.arguments
            if let last = arguments.popLast() { arguments.append("\(last)+\(mutant.id)") }
            return ChildProgram(executable: child.executable, arguments: arguments)
        }
    }

    /// Opens a store of the base harness with the flaw.
    public func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        let flaw = flaw(at: path)
        return MutantStore(base: try openBase(of: flaw, tables: tables), flaw: flaw)
    }

    private func openBase(
        of flaw: StoreFlaw, tables: [SyncTableDefinition]
    ) throws -> any SyncContextDataSource {
        let path = flaw.path
        let base = RecordingHarness(base: base) { other in
            if other != path { otherPaths.change { $0.insert(other) } }
        }
        return try flaw.openBase?(base, path, tables) ?? base.open(at: path, tables: tables)
    }

    /// Removes the store of the base harness, and those that flaws opened at other paths.
    public func removeStore(at path: String) {
        for path in otherPaths.value.union([path]) { base.removeStore(at: path) }
        otherPaths.change { $0 = [] }
    }

    /// As the base harness, unless the mutant changes it.
    public var hasFilesAtPath: Bool { flaw().hasFilesAtPath ?? base.hasFilesAtPath }

    /// The hook of the base harness, or that of the mutant's simulated server.
    public var crashServer: (@Sendable () throws -> Void)? {
        guard flaw().isOnServer else { return base.crashServer }
        return { [server] in server.crash() }
    }

    /// The faults of the base harness, or those of the mutant's simulated server.
    public var connectionFaults: (any ConnectionFaults)? {
        let flaw = flaw()
        if flaw.hasInertFaults { return InertFaults(hits: hits) }
        return flaw.isOnServer ? server : base.connectionFaults
    }

    /// The special stores that the mutant simulates, and those of the base harness, unless the flaw opens other stores.
    public var specialStores: SpecialStores {
        let flaw = flaw()
        var stores = flaw.openBase == nil ? wrapped(base.specialStores) : SpecialStores()
        if flaw.simulated.contains(.smallStore) { stores.openSmall = simulating(.small) }
        if flaw.simulated.contains(.constrainedStore) { stores.openConstrained = simulating(.constrained) }
        if flaw.simulated.contains(.externalCommits) {
            stores.openWithApp = { path, tables in
                let flaw = self.flaw(at: path, opened: .withApp)
                let base = try openBase(of: flaw, tables: tables)
                let addItem: @Sendable (String) throws -> Void = { try flaw.app.addItem($0, to: base) }
                return (store: MutantStore(base: base, flaw: flaw), addItem: addItem)
            }
        }
        if flaw.simulated.contains(.newerFormat) {
            stores.makeNewer = { path in Files.make(StoreFlaw.newerMark(path)) }
        }
        return stores
    }

    private func simulating(_ opening: StoreFlaw.Opening) -> SpecialStores.Opening {
        { path, tables in
            let flaw = self.flaw(at: path, opened: opening)
            return MutantStore(base: try openBase(of: flaw, tables: tables), flaw: flaw)
        }
    }

    /// Returns special stores of the base harness with the flaw.
    private func wrapped(_ stores: SpecialStores) -> SpecialStores {
        var stores = stores
        if let open = stores.openSmall {
            stores.openSmall = { path, tables in
                MutantStore(base: try open(path, tables), flaw: flaw(at: path, opened: .small))
            }
        }
        if let open = stores.openConstrained {
            stores.openConstrained = { path, tables in
                MutantStore(base: try open(path, tables), flaw: flaw(at: path, opened: .constrained))
            }
        }
        if let open = stores.openWithApp {
            stores.openWithApp = { path, tables in
                let (base, addItem) = try open(path, tables)
                let store = MutantStore(base: base, flaw: flaw(at: path, opened: .withApp))
                return (store: store, addItem: addItem)
            }
        }
        return stores
    }

    /// The differences of the base harness.
    public var declaredDifferences: [String: String] { base.declaredDifferences }
}

/// A harness that records the paths of its stores.
private struct RecordingHarness: StoreHarness {
    let base: any StoreHarness
    let record: @Sendable (String) -> Void

    func open(at path: String, tables: [SyncTableDefinition]) throws -> any SyncContextDataSource {
        record(path)
        return try base.open(at: path, tables: tables)
    }
}

/// A store with a flaw.
private struct MutantStore: SyncContextDataSource {
    let base: any SyncContextDataSource
    let flaw: StoreFlaw

    var catalog: TableCatalog { flaw.catalog?(base.catalog) ?? base.catalog }
    var capabilities: StoreCapabilities { flaw.capabilities?(base.capabilities) ?? base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        guard let read = flaw.read else {
            return try base.read { try body(MutantSnapshot(base: $0, flaw: flaw)) }
        }
        var result: T?
        try read(base) { result = try body(MutantSnapshot(base: $0, flaw: flaw)) }
        return try result.orThrow()
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        guard let write = flaw.write else {
            return try base.write { try body(MutantTransaction(base: $0, flaw: flaw)) }
        }
        var result: T?
        try write(base) { result = try body(MutantTransaction(base: $0, flaw: flaw)) }
        return try result.orThrow()
    }

    func onExternalCommit(_ handler: @escaping @Sendable () -> Void) {
        if let onExternalCommit = flaw.onExternalCommit {
            onExternalCommit(base, handler)
        } else {
            base.onExternalCommit(handler)
        }
    }

    func tryLockPush() throws -> (any StorePushLock)? {
        guard let tryLockPush = flaw.tryLockPush else { return try base.tryLockPush() }
        return try tryLockPush(base)
    }

    func tryLockSync() throws -> (any StorePushLock)? {
        guard let tryLockSync = flaw.tryLockSync else { return try base.tryLockSync() }
        return try tryLockSync(base)
    }

    func close() throws { try flaw.close?(base) ?? base.close() }
}

extension Optional {
    fileprivate func orThrow() throws -> Wrapped {
        guard let self else { throw StoreError(.inputOutput, "The mutant did not run the body.") }
        return self
    }
}

private protocol MutantReading: StoreSnapshot {
    var reader: any StoreSnapshot { get }
    var flaw: StoreFlaw { get }
}

extension MutantReading {
    func item(id: String, in table: String) throws -> Item? {
        guard let item = flaw.item else { return try reader.item(id: id, in: table) }
        return try item(reader, id, table)
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        try flaw.items?(reader, query) ?? reader.items(matching: query)
    }

    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        if let forEachRow = flaw.forEachRow { return try forEachRow(reader, query, columns, body) }
        if flaw.items == nil { return try reader.forEachRow(matching: query, columns: columns, body) }
        // The rows are those that the flaw has changed.
        var query = query
        query.selection = []
        return try items(matching: query).forEachItem(columns: columns, body)
    }

    func operation(id: Int64) throws -> TableOperation? {
        guard let operation = flaw.operation else { return try reader.operation(id: id) }
        return try operation(reader, id)
    }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try flaw.operations?(reader, id, table, limit)
            ?? reader.operations(after: id, in: table, limit: limit)
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try flaw.operationsOfItem?(reader, itemID, table) ?? reader.operations(forItem: itemID, in: table)
    }

    func operationCount(in table: String?) throws -> Int {
        try flaw.operationCount?(reader, table) ?? reader.operationCount(in: table)
    }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        guard let operationError = flaw.operationError else {
            return try reader.operationError(operationID: operationID)
        }
        return try operationError(reader, operationID)
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try flaw.operationErrors?(reader, table) ?? reader.operationErrors(in: table)
    }

    func configValue(_ key: ConfigKey) throws -> String? {
        guard let configValue = flaw.configValue else { return try reader.configValue(key) }
        return try configValue(reader, key)
    }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try flaw.configValues?(reader, table, kind) ?? reader.configValues(in: table, kind: kind)
    }
}

private struct MutantSnapshot: MutantReading {
    let base: any StoreSnapshot
    let flaw: StoreFlaw
    var reader: any StoreSnapshot { base }
}

private struct MutantTransaction: MutantReading, StoreTransaction {
    let base: any StoreTransaction
    let flaw: StoreFlaw
    var reader: any StoreSnapshot { base }

    func insert(_ item: Item, in table: String) throws -> Bool {
        if let insert = flaw.insert { return try insert(base, item, table) }
        // A flaw in reading by id or in upserts also affects inserts.
        guard flaw.item != nil || flaw.upsert != nil else { return try base.insert(item, in: table) }
        guard try self.item(id: item.id, in: table) == nil else { return false }
        try upsert([item], in: table)
        return true
    }

    func upsert(_ items: [Item], in table: String) throws {
        try flaw.upsert?(base, items, table) ?? base.upsert(items, in: table)
    }

    func deleteItems(ids: [String], in table: String) throws {
        try flaw.deleteIDs?(base, ids, table) ?? base.deleteItems(ids: ids, in: table)
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        try flaw.deleteMatching?(base, query) ?? base.deleteItems(matching: query)
    }

    func lastOperationID() throws -> Int64 { try flaw.lastOperationID?(base) ?? base.lastOperationID() }

    func put(_ operation: TableOperation) throws {
        try flaw.putOperation?(base, operation) ?? base.put(operation)
    }

    func removeOperation(id: Int64) throws {
        try flaw.removeOperation?(base, id) ?? base.removeOperation(id: id)
    }

    func put(_ error: TableOperationError) throws { try flaw.putError?(base, error) ?? base.put(error) }

    func removeOperationError(operationID: Int64) throws {
        try flaw.removeError?(base, operationID) ?? base.removeOperationError(operationID: operationID)
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        try flaw.setConfig?(base, value, key) ?? base.setConfigValue(value, for: key)
    }

    func externalCommitStamp() throws -> Int64 {
        try flaw.externalCommitStamp?(base) ?? base.externalCommitStamp()
    }
}
