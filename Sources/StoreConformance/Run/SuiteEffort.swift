// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The length of random checks.
public struct SuiteEffort: Sendable, Hashable {
    /// The number of random scripts of the model check.
    public var modelScripts: Int
    /// The approximate number of changes and reads in each script.
    public var modelLength: Int
    /// The number of times that a child process is killed.
    public var kills: Int

    /// Creates an effort with these numbers.
    public init(modelScripts: Int, modelLength: Int, kills: Int) {
        self.modelScripts = modelScripts
        self.modelLength = modelLength
        self.kills = kills
    }

    /// A few seconds, for every test run.
    public static let standard = SuiteEffort(modelScripts: 10, modelLength: 300, kills: 20)

    /// A few minutes, for continuous integration.
    public static let thorough = SuiteEffort(modelScripts: 200, modelLength: 500, kills: 500)
}
