// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How long the random checks go on.
public struct SuiteEffort: Sendable, Hashable {
    /// How many random scripts the model machine runs.
    public var modelScripts: Int
    /// How many changes and questions each script has, about.
    public var modelLength: Int
    /// How many times a child process is killed.
    public var kills: Int

    /// Says how much of each.
    public init(modelScripts: Int, modelLength: Int, kills: Int) {
        self.modelScripts = modelScripts
        self.modelLength = modelLength
        self.kills = kills
    }

    /// A few seconds: for every run of the tests.
    public static let standard = SuiteEffort(modelScripts: 10, modelLength: 300, kills: 20)

    /// A few minutes: for continuous integration.
    public static let thorough = SuiteEffort(modelScripts: 200, modelLength: 500, kills: 500)
}
