// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// How storages choose the times and versions of changes.
package struct RowStampSettings: Sendable {
    let clock: ServerClock
    /// The fraction digits of times.
    let fractionDigits: Int
    /// Whether the versions of a row that is removed and inserted again start again.
    package let restartsVersions: Bool

    init(_ configuration: TableServer.Configuration) {
        clock = configuration.clock
        fractionDigits = configuration.keptFractionDigits ?? configuration.fractionDigits
        restartsVersions = configuration.restartsVersions
    }

    /// The current time, truncated to the digits of times.
    package var now: Timestamp { clock.now.showing(fractionDigits: fractionDigits) }
}
