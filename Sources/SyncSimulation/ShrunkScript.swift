// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The shortest script that was found to fail with the invariant of a seed's run.
public struct ShrunkScript: Sendable {
    /// The acts, one a line.
    public let acts: [String]
    /// What fails.
    public let failure: SimulationFailure
    /// What happens in the script, line by line.
    public let trace: [String]
}

extension Simulation {
    /// Removes acts from a seed's script while the same invariant fails.
    ///
    /// - Returns: the shortest script; `nil` if the seed does not fail.
    /// - Throws: the errors of opening the stores.
    public func shrink(seed: UInt64) throws -> ShrunkScript? {
        var script = script(of: seed)
        guard let first = try run(seed, script, isTraced: false).failure else { return nil }
        script = Array(script.prefix(first.step))
        if try run(seed, script, isTraced: false).failure?.invariant != first.invariant {
            script = self.script(of: seed)
        }
        var size = script.count / 2
        while size >= 1 {
            let before = script.count
            var index = 0
            while index < script.count {
                var shorter = script
                shorter.removeSubrange(index..<min(index + size, script.count))
                if try run(seed, shorter, isTraced: false).failure?.invariant == first.invariant {
                    script = shorter
                } else {
                    index += size
                }
            }
            // A removed act can make another one unnecessary.
            if size > 1 { size /= 2 } else if script.count == before { break }
        }
        let report = try run(seed, script, isTraced: true)
        return ShrunkScript(
            acts: script.map(\.description), failure: report.failure ?? first, trace: report.trace)
    }
}
