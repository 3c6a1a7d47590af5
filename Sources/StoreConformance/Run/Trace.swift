// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The calls made on the stores of one check, as lines to read.
final class Trace: Sendable {
    private let lines = Mutex<[String]>([])

    func note(_ line: @autoclosure () -> String) {
        let line = line()
        lines.withLock { lines in
            lines.append(line)
            if lines.count > 400 { lines.removeFirst(200) }
        }
    }

    /// The last lines; a note stands for those before.
    func tail(_ count: Int = 40) -> [String] {
        lines.withLock { lines in
            lines.count <= count ? lines : ["… \(lines.count - count) earlier lines"] + lines.suffix(count)
        }
    }
}
