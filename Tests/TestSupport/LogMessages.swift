// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// The messages of a log, each with its metadata.
package final class LogMessages: Sendable {
    private let level: Logger.Level
    private let messages = Mutex<[String]>([])
    private let hook = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// - Parameter level: the least level of the messages.
    package init(_ level: Logger.Level = .trace) { self.level = level }

    package var all: [String] { messages.withLock { $0 } }

    /// Calls the hook with each later message.
    package func onMessage(_ hook: @escaping @Sendable (String) -> Void) { self.hook.withLock { $0 = hook } }

    package var logger: Logger {
        TestLogHandler.logger(level) { event in
            let values = event.metadata ?? [:]
            let known = ["method", "table", "status"].map { "\(values[$0] ?? "")" }.joined(separator: " ")
            let message = "\(event.message) \(known) \(values)"
            self.messages.withLock { $0.append(message) }
            self.hook.withLock { $0 }?(message)
        }
    }
}
