// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// How storages choose the times and versions of changes.
package struct RowStampSettings: Sendable {
    let clock: ServerClock
    /// The fraction digits of times.
    let fractionDigits: Int
    /// The fraction digits that responses show.
    private let shownDigits: Int
    /// Whether the versions of a row that is removed and inserted again start again.
    package let restartsVersions: Bool

    init(_ configuration: TableServer.Configuration) {
        clock = configuration.clock
        fractionDigits = configuration.keptFractionDigits ?? configuration.fractionDigits
        shownDigits = configuration.fractionDigits
        restartsVersions = configuration.restartsVersions
    }

    /// The current time, truncated to the digits of times.
    package var now: Timestamp { clock.now.showing(fractionDigits: fractionDigits) }

    /// Returns the `updatedAt` of the changes of a transaction, which holds the lock of its table: the current time, but later
    /// than that of the transaction before, also when the clock has been set back.
    ///
    /// When the `Date` of a response is more than a second after a change, its client no longer looks for others with the
    /// `updatedAt` that the response shows. So a time is used again, which is necessary if the clock stands or times have
    /// fewer digits than milliseconds, only while the clock has never shown a later one; and the times before and after a
    /// step back differ in the digits that responses show. A commit that takes a second can still be missed if its time
    /// shows the same digits as an earlier one: see ``TableServer/Configuration/fractionDigits``.
    ///
    /// - Parameter last: the stored text of the last time; `nil` before the first change.
    package func stamp(after last: String?) -> Timestamp {
        let now = clock.latest.showing(fractionDigits: fractionDigits)
        guard let last = last.flatMap({ Timestamp(storedText: $0) }), !last.isEarlier(than: now) else {
            return now
        }
        let repeats = clock.isStanding || fractionDigits < 3
        if repeats, last.isSameInstant(as: now) { return now }
        let unit = Duration.seconds(1) / (0..<shownDigits).reduce(1) { unit, _ in unit * 10 }
        // Times of a database can have more digits than those of this server.
        return last.showing(fractionDigits: shownDigits).advanced(by: unit)
            .showing(fractionDigits: fractionDigits)
    }
}
