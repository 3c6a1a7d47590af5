// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A log of the calls on the stores of one check.
final class Trace: Sendable {
    private let lines = Mutex<[String]>([])
    private let startedParts = Mutex(0)

    /// The number of parts that the check has started.
    var parts: Int { startedParts.withLock { $0 } }

    /// Records the start of a part of the check, such as one random script. The time limit of the check starts again.
    func startPart(_ line: @autoclosure () -> String) {
        startedParts.withLock { $0 += 1 }
        record(line())
    }

    func record(_ line: @autoclosure () -> String) {
        let line = line().shortened(to: 240)
        lines.withLock { lines in
            lines.append(line)
            if lines.count > 400 { lines.removeFirst(200) }
        }
    }

    /// Returns the last lines, after a line with the number of omitted ones.
    func tail(_ count: Int = 40) -> [String] {
        lines.withLock { lines in
            lines.count <= count ? lines : ["… \(lines.count - count) earlier lines"] + lines.suffix(count)
        }
    }
}
