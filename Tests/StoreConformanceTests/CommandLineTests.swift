// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Testing

/// The command line of the suite. A wrong number or rule must not look like a check that has passed.
@Suite(.serialized) struct CommandLineTests {
    /// Runs the built program until it ends, and returns its status.
    private func status(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: ChildProgram.conformance(store: "memory").executable)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static let correctRun = ["run", "--store", "memory", "--rule", "value.bool"]

    @Test func `correct options are accepted`() throws {
        let options = ["--kills", "1", "--scripts", "1", "--length", "1", "--rule", "value.null"]
        #expect(try status(Self.correctRun + options) == 0)
    }

    @Test(arguments: [
        ["--kills", "0"], ["--kills=-1"], ["--scripts", "0"], ["--scripts=-1"], ["--length", "0"],
        ["--length=-1"], ["--rule", "valeu"],
    ])
    func `a number below 1 and a prefix of no rule are wrong usage`(options: [String]) throws {
        #expect(try status(Self.correctRun + options) == 64)
    }

    @Test(arguments: [
        ["--model-steps=-1"], ["--rule", "value.bool"],
        ["--matrix", "--rule", "value.bool", "--rule", "valeu"],
    ])
    func `wrong options of mutants are wrong usage`(options: [String]) throws {
        #expect(try status(["mutants", "--only", "types.bool-as-integer"] + options) == 64)
    }
}
