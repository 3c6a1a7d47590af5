// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One act of an app, a user, a device or the server, drawn from the seed.
struct Act: Sendable, CustomStringConvertible {
    /// What is done. The order is the index of ``SimulationCoverage``.
    enum Feature: Int, Sendable, CaseIterable {
        // The app changes items.
        case insert, update, replace, replaceCopy, delete, batch
        // The app's own database code changes rows, and queues the changes.
        case enqueueExisting, enqueueChange, enqueueDeletion
        // The app synchronizes.
        case push, pushTable, pushBudget, pushOutage, pull, pullFiltered, pullWhole, pullSkip, pullAnyway,
            pullLimited,
            pullPages
        case reconcile, purgePushing, purgeRefusing, purgeDiscarding, purgeAll, cancelPush, cancelPull
        // The user decides about failed operations.
        case discard, keepServer, keepClient, changeKind, replay
        // The device.
        case observe, close, restart, changeSchema, failStore, crash, crashAfterCommit, partition
        // The server and its other users.
        case serverWrite, serverDelete, breakRow, refuseRow, changePageCap, stepServerClock, collectTombstones

        /// How often the feature is drawn, relative to the others.
        var weight: Int {
            switch self {
            case .push: 14
            case .insert: 12
            case .update: 14
            case .delete: 7
            case .pull, .pullAnyway: 7
            case .replace, .batch, .serverWrite: 4
            case .discard, .keepServer, .keepClient, .changeKind: 3
            case .replaceCopy, .serverDelete, .enqueueExisting, .purgeDiscarding, .reconcile, .changeSchema,
                .cancelPush:
                2
            default: 1
            }
        }

        /// Whether the act pushes, pulls or decides about conflicts.
        var sendsRequests: Bool {
            switch self {
            case .push, .pushTable, .pushBudget, .pushOutage, .pull, .pullFiltered, .pullWhole, .pullSkip,
                .pullAnyway, .pullLimited, .pullPages, .reconcile, .purgePushing, .cancelPush, .cancelPull,
                .discard, .keepServer, .keepClient, .changeKind, .replay:
                true
            default: false
            }
        }

        /// Whether the user decides about a failed operation.
        var isDecision: Bool { [.discard, .keepServer, .keepClient, .changeKind, .replay].contains(self) }

        /// Whether the act can remove rows that no user has deleted.
        var removesRows: Bool {
            switch self {
            case .purgePushing, .purgeRefusing, .purgeDiscarding, .purgeAll, .reconcile, .changeSchema: true
            default: false
            }
        }

        /// Whether the act causes no conflict on a device without other writers.
        var isSolo: Bool {
            switch self {
            case .insert, .update, .replace, .delete, .batch, .enqueueChange, .enqueueDeletion, .push,
                .pushTable, .pushBudget, .pushOutage, .pull, .pullFiltered, .pullWhole, .pullSkip,
                .pullAnyway, .pullPages, .reconcile, .cancelPush, .cancelPull, .replay, .observe, .close,
                .restart, .failStore, .crash, .crashAfterCommit, .partition, .refuseRow, .changePageCap:
                true
            default: false
            }
        }

        /// Whether the act only uses the store: others begin during it only if they begin at once.
        var isShort: Bool { isSuspended && (!sendsRequests || isDecision) && self != .pushOutage }

        /// Whether the act suspends, so that others can begin during it.
        var isSuspended: Bool {
            switch self {
            case .restart, .failStore, .crash, .crashAfterCommit, .partition, .serverWrite, .serverDelete,
                .breakRow, .refuseRow, .changePageCap, .stepServerClock, .collectTombstones, .observe,
                .changeSchema:
                false
            default: true
            }
        }
    }

    /// The key of the act's draws, which do not depend on the other acts.
    let number: UInt64
    let feature: Feature
    let device: Int
    let table: Int
    let id: String
    /// What happens between the begin of the act before it and its own.
    let delay: Delay

    /// The time between two acts.
    enum Delay: Sendable, CustomStringConvertible {
        /// Virtual nanoseconds: until then, everything runs that does not wait itself.
        case nanoseconds(Int64)
        /// So many steps of other tasks at most, so that the act begins between two steps of another one.
        case steps(Int)
        /// Until a number of steps after the act's device receives a response: the response is not processed yet.
        case response(steps: Int)

        /// - Parameter former: the act before it.
        static func draw(_ random: inout SimulationRandom, after former: Feature?) -> Delay {
            if former?.isShort == true, random.percent(50) { return .steps(random.below(4)) }
            return switch random.below(100) {
            case ..<30: .steps(random.below(16))
            case ..<60: .response(steps: random.below(24))
            default: .nanoseconds(random.logUniform(below: 2_000_000_000))
            }
        }

        var description: String {
            switch self {
            case .nanoseconds(let count): "\(count / 1_000_000) ms"
            case .steps(let count): "\(count) steps"
            case .response(let count): "a response and \(count) steps"
            }
        }
    }
    /// The draws of its parameters.
    let random: SimulationRandom

    var description: String {
        "\(number): after \(delay), device \(device): \(feature) \(id)"
    }

    /// Returns the script of a seed.
    ///
    /// - Parameter count: the number of acts of a script with all features; others have half as many, or less with a theme.
    static func script(seed: UInt64, count: Int, devices: Int, tables: Int) -> [Act] {
        var random = SimulationRandom(seed, SimulationRandom.Stream.script.rawValue)
        let theme = SimulationTheme.of(seed: seed)
        let ids = random.pick(theme?.idCounts ?? [1, 1, 1, 2, 2, 3, 6])
        let (features, isComplete) =
            theme.map { ($0.features, false) } ?? drawFeatures(&random, SimulationMode.of(seed: seed))
        let count = isComplete ? count : theme == nil ? count / 2 : count * 2 / 5
        var former: Feature?
        return (1...count).map { number in
            var random = SimulationRandom(seed, UInt64(number), SimulationRandom.Stream.act.rawValue)
            let delay = Delay.draw(&random, after: former)
            let feature = random.pick(features)
            former = feature
            return Act(
                number: UInt64(number), feature: feature, device: random.below(devices),
                table: random.percent(15) ? random.below(tables) : 0, id: "x\(random.below(ids))",
                delay: delay, random: random)
        }
    }

    /// Returns the features of a seed without theme, each as often as its weight, and whether they are all.
    private static func drawFeatures(
        _ random: inout SimulationRandom, _ mode: SimulationMode
    ) -> ([Feature], isComplete: Bool) {
        // Few features and acts meet more often than many.
        let share = random.pick(mode == .swarm ? [10, 25, 50] : [25, 50, 100, 100])
        let isComplete = share == 100
        var features: [Feature] = []
        for feature in Feature.allCases where mode != .solo || feature.isSolo {
            // Without local changes and pushes nothing else means anything.
            let isNeeded = [.insert, .update, .push, .pull, .pullAnyway].contains(feature)
            guard isNeeded || random.percent(feature == .pushOutage ? 9 : share) else { continue }
            let factor = isNeeded || isComplete ? 1 : 3
            features += [Feature](repeating: feature, count: feature.weight * factor)
        }
        return (features, isComplete)
    }
}
