// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore
import Synchronization

/// The clock of a server. A test can stop it and move it forward or back.
///
/// While the clock is stopped, all rows that are written get the same `updatedAt`.
public final class ServerClock: Sendable {
    private let base: @Sendable () -> Timestamp
    private let state = Mutex(State())

    private struct State {
        var shift = Duration.zero
        /// The latest time that the clock has shown.
        var latest: Timestamp?
    }

    /// Whether changes at the same time of the clock have the same `updatedAt`.
    let isStanding: Bool

    init(isStanding: Bool, base: @escaping @Sendable () -> Timestamp) {
        (self.isStanding, self.base) = (isStanding, base)
    }

    /// Returns a clock that shows the system's time, with a precision of about a microsecond.
    public static func system() -> ServerClock {
        ServerClock(isStanding: false) {
            let now = Date().timeIntervalSince1970
            let seconds = now.rounded(.down)
            return Timestamp(
                seconds: Int64(seconds), nanoseconds: Int32((now - seconds) * 1e9), fractionDigits: 9)
                ?? Timestamp(Date())
        }
    }

    /// Returns a stopped clock, which changes only by ``advance(by:)``.
    public static func standing(at instant: Timestamp) -> ServerClock {
        ServerClock(isStanding: true) { instant.showing(fractionDigits: 9) }
    }

    /// The current time of this clock, with nine fraction digits.
    public var now: Timestamp { state.withLock { show(&$0) } }

    /// The current time, or the latest time that the clock has shown, if it has been set back since.
    var latest: Timestamp {
        state.withLock { state in
            let now = show(&state)
            return state.latest ?? now
        }
    }

    private func show(_ state: inout State) -> Timestamp {
        let now = base().advanced(by: state.shift)
        if state.latest.map({ $0.isEarlier(than: now) }) ?? true { state.latest = now }
        return now
    }

    /// Moves the clock forward, or back by a negative duration.
    public func advance(by duration: Duration) {
        state.withLock { $0.shift += duration }
    }
}
