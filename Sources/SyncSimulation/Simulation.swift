// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Runs whole systems of an app by seed: several devices with the real engine, an independent model of a server,
/// networks and stores with faults, and a virtual clock.
///
/// A seed decides everything: the same seed gives the same run.
public struct Simulation: Sendable {
    /// The app that is simulated.
    public var app: SimulatedApp
    /// The number of acts of a run.
    public var actCount = 60

    /// Makes a simulation of the app, or of the framework's own test app if it is `nil`.
    public init(app: SimulatedApp? = nil) {
        self.app = app ?? .standard
    }

    /// What a run has found.
    public struct Report: Sendable {
        /// The seed of the run.
        public let seed: UInt64
        /// What was wrong first; `nil` if nothing was.
        public let failure: SimulationFailure?
        /// What happened in the run.
        public let coverage: SimulationCoverage
        /// What happened, line by line; empty unless the run was traced.
        public let trace: [String]
    }

    /// Runs one seed.
    ///
    /// - Parameter isTraced: whether the report has a trace.
    /// - Throws: the errors of opening the stores; ``SyncError/Code/invalidTableDefinition`` for an app without a table or with
    ///   one that has no edited column.
    public func run(seed: UInt64, isTraced: Bool = false) throws -> Report {
        try app.validate()
        return try run(seed, script(of: seed), isTraced: isTraced)
    }

    func script(of seed: UInt64) -> [Act] {
        Act.script(seed: seed, count: actCount, devices: 3, tables: app.tables.count)
    }

    func run(_ seed: UInt64, _ script: [Act], isTraced: Bool) throws -> Report {
        let system = try SimulatedSystem(seed: seed, app: app, isTraced: isTraced)
        let failure = system.run(script)
        return Report(seed: seed, failure: failure, coverage: system.coverage, trace: system.trace)
    }
}
