// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// The messages of a log, each with its metadata.
final class LogMessages: Sendable {
    private let messages = Mutex<[String]>([])
    private let hook = Mutex<(@Sendable (String) -> Void)?>(nil)

    var all: [String] { messages.withLock { $0 } }

    /// Calls the hook with each later message.
    func onMessage(_ hook: @escaping @Sendable (String) -> Void) { self.hook.withLock { $0 = hook } }

    var logger: Logger { Logger(label: "test") { _ in Handler(messages: self) } }

    private struct Handler: LogHandler {
        let messages: LogMessages
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = event.metadata ?? [:]
            let known = ["method", "table", "status"].map { "\(values[$0] ?? "")" }.joined(separator: " ")
            let message = "\(event.message) \(known) \(values)"
            messages.messages.withLock { $0.append(message) }
            messages.hook.withLock { $0 }?(message)
        }
    }
}
