// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Logging

/// Passes the events of a log to a test.
package struct TestLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let record: @Sendable (LogEvent) -> Void

    /// Makes a log whose events of at least this level are recorded.
    package static func logger(
        _ level: Logger.Level, _ record: @escaping @Sendable (LogEvent) -> Void
    ) -> Logger {
        Logger(label: "test") { _ in TestLogHandler(logLevel: level, record: record) }
    }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) { record(event) }
}
