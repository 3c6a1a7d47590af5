// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One act of an app, a user or the server, drawn from the seed.
struct Act: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        case insert, update(String), replace, delete, batch
        case push, pull(Pull), cancel(delay: Int64), purge(Int), reconcile, resolve(Int), restart, crash(calls: Int)
        case serverWrite(String), serverDelete, pageCap(Int)
    }

    enum Pull: Sendable { case incremental, filtered, plain, skip, anyway }

    /// The act's key: its draws do not depend on the other acts.
    let number: UInt64
    let client: Int
    let id: String
    /// Virtual nanoseconds to wait before it begins.
    let delay: Int64
    let kind: Kind

    var description: String { "#\(number) after \(delay / 1_000_000) ms: client \(client) \(kind) \(id)" }

    static func draw(_ number: UInt64, seed: UInt64, clients: Int, ids: Int) -> Act {
        var random = SimulationRandom(seed, number, 3)
        let field = random.percent(50) ? "a" : "b"
        let kind: Kind =
            switch random.below(100) {
            case ..<14: .insert
            case ..<32: .update(field)
            case ..<36: .replace
            case ..<43: .delete
            case ..<47: .batch
            case ..<63: .push
            case ..<75: .pull(random.pick([.incremental, .incremental, .filtered, .plain, .skip, .anyway]))
            case ..<79: .cancel(delay: Int64(random.below(1_000_000_000)))
            case ..<82: .purge(random.below(3))
            case ..<84: .reconcile
            case ..<91: .resolve(random.below(6))
            case ..<93: .restart
            case ..<94: .crash(calls: random.below(10))
            case ..<97: .serverWrite(field)
            case ..<99: .serverDelete
            default: .pageCap(1 + random.below(4))
            }
        return Act(
            number: number, client: random.below(clients), id: "x\(random.below(ids))",
            delay: random.percent(40) ? 0 : Int64(random.next() & ((1 << UInt64(random.below(31))) - 1)), kind: kind)
    }
}
