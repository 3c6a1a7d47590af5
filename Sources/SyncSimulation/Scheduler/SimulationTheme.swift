// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A rare order of acts that some seeds concentrate on: they draw only acts, servers and networks that the order needs.
enum SimulationTheme: String, Sendable, CaseIterable {
    /// Pulls receive rows while pushes of these rows run.
    case pullBesidePush
    /// Rows are deleted for good and inserted again, with their first version.
    case restartedVersions
    /// Rows are inserted again, or missing in old pages, while a reconciliation runs.
    case reconciliation
    /// Two processes push, pull and purge.
    case sharedStore
    /// The user edits items while a delegate runs.
    case delegate
    /// The user stores items that they opened before other users changed them.
    case olderCopy
    /// The app's tables change while operations are pending.
    case schema
    /// The server refuses changes of rows that other users change.
    case refusals
    /// Responses to the inserts of enqueued items are lost.
    case adoption
    /// Responses to changes of rows that other users change are lost.
    case lostResponses
    /// Rows are purged while pulls run.
    case purge
    /// Other users write rows with an `updatedAt` in the future.
    case futureRows
    /// The app changes items, and leaves all else to an automatic sync.
    case automaticSync
    /// Users of all devices count in the same rows, and no response is lost.
    case counters
    /// Rows change while pulls read them, on a server that shows fewer digits of their instants than it keeps.
    case sharedInstants

    /// How many seeds have a theme, in percent.
    private static let share = 50

    /// Returns the theme of a seed; `nil` for seeds that draw from everything.
    static func of(seed: UInt64) -> SimulationTheme? {
        guard SimulationMode.of(seed: seed) != .solo else { return nil }
        var random = SimulationRandom(seed, SimulationRandom.Stream.theme.rawValue)
        guard random.percent(share) else { return nil }
        // Drawn apart, so that all other seeds keep their themes.
        var other = SimulationRandom(seed, SimulationRandom.Stream.automaticSync.rawValue)
        if other.percent(5) { return .automaticSync }
        if other.percent(4) { return .counters }
        if other.percent(3) { return .sharedInstants }
        return random.pick(allCases.flatMap { [SimulationTheme](repeating: $0, count: $0.frequency) })
    }

    /// How often the theme is drawn relative to the others: rare orders need more seeds.
    private var frequency: Int {
        switch self {
        case .pullBesidePush, .reconciliation: 3
        case .restartedVersions, .delegate, .schema, .refusals, .adoption, .lostResponses: 2
        case .sharedStore, .olderCopy, .purge, .futureRows: 1
        case .automaticSync, .counters, .sharedInstants: 0
        }
    }

    /// The acts, and how often each is drawn relative to the others.
    private var weights: [Act.Feature: Int] {
        switch self {
        case .pullBesidePush:
            [.insert: 6, .update: 8, .delete: 8, .push: 10, .pullAnyway: 14, .serverWrite: 3]
        case .restartedVersions:
            [
                .insert: 3, .update: 10, .delete: 2, .push: 8, .pullAnyway: 8, .pull: 3, .serverWrite: 8,
                .serverDelete: 6, .reconcile: 1,
            ]
        case .reconciliation:
            [
                .insert: 2, .update: 1, .push: 2, .pull: 3, .pullAnyway: 10, .reconcile: 14, .serverWrite: 10,
                .serverDelete: 8,
            ]
        case .sharedStore:
            [
                .insert: 6, .update: 8, .delete: 3, .push: 10, .pullAnyway: 8, .pull: 3, .serverWrite: 4,
                .purgeDiscarding: 4, .purgeRefusing: 1, .discard: 1, .keepClient: 1, .restart: 1,
            ]
        case .delegate:
            [
                .insert: 6, .update: 14, .delete: 4, .push: 12, .pullAnyway: 4, .serverWrite: 5, .replace: 2,
                .discard: 1,
            ]
        case .olderCopy:
            [
                .insert: 4, .replaceCopy: 14, .update: 3, .push: 8, .pull: 6, .pullAnyway: 4,
                .serverWrite: 8,
            ]
        case .schema:
            [
                .insert: 6, .update: 6, .delete: 3, .batch: 6, .push: 10, .pull: 6, .changeSchema: 6,
                .serverWrite: 5,
            ]
        case .refusals:
            [
                .insert: 4, .update: 8, .delete: 2, .push: 10, .pullAnyway: 8, .refuseRow: 5, .serverWrite: 5,
                .discard: 5, .keepServer: 3, .keepClient: 1,
            ]
        case .adoption:
            [
                .enqueueExisting: 10, .update: 8, .delete: 5, .push: 12, .pullAnyway: 3, .serverWrite: 4,
                .discard: 2, .insert: 1,
            ]
        case .lostResponses:
            [
                .insert: 5, .update: 10, .delete: 8, .push: 14, .pullAnyway: 3, .serverWrite: 8, .discard: 1,
            ]
        case .purge:
            [
                .insert: 3, .update: 3, .push: 4, .pull: 10, .pullAnyway: 10, .purgeRefusing: 6,
                .purgePushing: 2, .serverWrite: 8,
            ]
        case .futureRows:
            [.insert: 4, .update: 4, .push: 6, .pull: 12, .serverWrite: 14, .serverDelete: 2]
        case .automaticSync:
            [
                .insert: 8, .update: 10, .delete: 4, .serverWrite: 4, .refuseRow: 5, .partition: 4, .close: 4,
                .restart: 2, .failStore: 2, .push: 1, .cancelPush: 1, .keepClient: 1,
            ]
        case .counters:
            [.insert: 3, .update: 14, .push: 10, .pullAnyway: 8, .pull: 3, .serverWrite: 2]
        case .sharedInstants:
            [.insert: 3, .update: 2, .push: 4, .pull: 12, .pullAnyway: 6, .serverWrite: 16, .serverDelete: 2]
        }
    }

    /// The acts, each as often as its weight.
    var features: [Act.Feature] {
        let weights = weights
        return Act.Feature.allCases.flatMap { [Act.Feature](repeating: $0, count: weights[$0] ?? 0) }
    }

    /// How many devices a system with this theme may have.
    var deviceCounts: [Int] {
        switch self {
        case .reconciliation, .delegate, .automaticSync: [1]
        case .counters: [2, 2, 3]
        default: [1, 2, 2]
        }
    }

    /// From how many ids an act draws its item.
    var idCounts: [Int] {
        switch self {
        case .adoption, .futureRows: [2, 3]
        case .sharedInstants: [3, 4]
        case .reconciliation: [1]
        case .purge: [1, 2]
        default: [1, 1, 2]
        }
    }

    /// Changes the drawn server.
    func shape(_ traits: inout ModelServerTraits, _ random: inout SimulationRandom) {
        // The order of two changes is known.
        traits.hasUnsteadyClock = false
        switch self {
        case .restartedVersions: (traits.hasSoftDelete, traits.restartsVersions) = (false, true)
        case .reconciliation: traits.hasSoftDelete = random.percent(20)
        case .adoption: traits.showsRowInConflict = random.percent(80)
        case .futureRows: (traits.hasFutureRows, traits.sendsDate) = (true, true)
        case .counters: traits.hasHook = false
        case .sharedInstants:
            (traits.keptDigits, traits.shownDigits) = (7, random.pick([0, 3]))
            traits.pageCap = random.pick([1, 2, 3])
        default: break
        }
    }

    /// Changes the drawn network.
    func shape(_ network: inout NetworkTraits, _ random: inout SimulationRandom) {
        switch self {
        case .pullBesidePush, .sharedStore:
            network.maxLatency = random.pick([64_000_000, 512_000_000, 4_000_000_000])
            network.rates = [.overtaken: random.pick([10, 40])]
        case .reconciliation:
            network.maxLatency = random.pick([64_000_000, 512_000_000, 4_000_000_000])
            network.rates = random.percent(40) ? [.stalePage: 40] : [:]
        case .restartedVersions, .refusals, .olderCopy, .delegate, .futureRows:
            if random.percent(50) { network.rates = [:] }
        case .schema: network.rates = [.lostResponse: 20]
        case .adoption, .lostResponses: network.rates = [.lostResponse: 60, .overtaken: 30]
        case .purge:
            network.maxLatency = random.pick([512_000_000, 4_000_000_000])
            network.rates = [:]
        case .automaticSync: break
        case .counters:
            network.maxLatency = random.pick([64_000_000, 512_000_000, 4_000_000_000])
            network.rates = [.lostRequest: 15, .statusBefore: 10, .overtaken: random.pick([0, 20])]
            network.failsUnappliedOnly = true
        case .sharedInstants:
            network.maxLatency = random.pick([64_000_000, 512_000_000, 4_000_000_000])
            network.rates = [:]
        }
    }
}
