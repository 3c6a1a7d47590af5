// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How long checks run and wait.
public struct SuiteEffort: Sendable, Hashable {
    /// The number of random scripts of the model check.
    public var modelScripts: Int
    /// The approximate number of changes and reads in each script.
    public var modelLength: Int
    /// The number of times that a child process is killed.
    public var kills: Int
    /// How many seconds a rule waits for a thread that must not be blocked, and repeats calls that throw
    /// ``/SyncCore/StoreError/Code/unavailable``.
    public var patience: Double

    /// Creates an effort with these numbers.
    public init(modelScripts: Int, modelLength: Int, kills: Int, patience: Double = 60) {
        self.modelScripts = modelScripts
        self.modelLength = modelLength
        self.kills = kills
        self.patience = patience
    }

    /// A few seconds, for every test run.
    public static let standard = SuiteEffort(modelScripts: 10, modelLength: 300, kills: 20)

    /// A few minutes, for continuous integration.
    public static let thorough = SuiteEffort(modelScripts: 200, modelLength: 500, kills: 500)
}
