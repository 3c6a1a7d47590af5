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

    /// Returns the `updatedAt` of the changes of a transaction, which holds the lock of its table: the current time, but later
    /// than that of the transaction before, also when the clock has been set back.
    ///
    /// A client that has seen a change, and that time has passed since, no longer looks for others with the same time. If
    /// the clock stands, or times have fewer digits than milliseconds, they are equal all the same.
    ///
    /// - Parameter last: the stored text of the last time; `nil` before the first change.
    package func stamp(after last: String?) -> Timestamp {
        let now = now
        guard let last = last.flatMap({ Timestamp(storedText: $0) }), !last.isEarlier(than: now) else {
            return now
        }
        let repeats = clock.isStanding || fractionDigits < 3
        let unit = Duration.seconds(1) / (0..<fractionDigits).reduce(1) { unit, _ in unit * 10 }
        // Times of a database can have more digits than those of this server.
        let truncated = last.showing(fractionDigits: fractionDigits)
        let isExact = !truncated.isEarlier(than: last)
        return repeats && isExact
            ? truncated : truncated.advanced(by: unit).showing(fractionDigits: fractionDigits)
    }
}
