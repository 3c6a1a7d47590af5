// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import SyncCore

/// Writes each message as one line of JSON to the standard error. A line that cannot be written is lost.
struct JSONLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line: [String: ItemValue] = [:]
        for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
            line[name] = .text("\(value)")
        }
        line["time"] = .text(Timestamp(Date()).description)
        line["level"] = .text(event.level.rawValue)
        line["message"] = .text(event.message.description)
        // The disk may be full, or the reader of a pipe gone. The server works without its log.
        try? FileHandle.standardError.write(contentsOf: ItemValue.object(line).json + Data("\n".utf8))
    }
}
