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
    private let shift = Mutex(Duration.zero)

    private init(base: @escaping @Sendable () -> Timestamp) {
        self.base = base
    }

    /// Returns a clock that shows the system's time, with a precision of about a microsecond.
    public static func system() -> ServerClock {
        ServerClock {
            let now = Date().timeIntervalSince1970
            let seconds = now.rounded(.down)
            return Timestamp(
                seconds: Int64(seconds), nanoseconds: Int32((now - seconds) * 1e9), fractionDigits: 9)
                ?? Timestamp(Date())
        }
    }

    /// Returns a stopped clock, which changes only by ``advance(by:)``.
    public static func standing(at instant: Timestamp) -> ServerClock {
        ServerClock { instant.showing(fractionDigits: 9) }
    }

    /// The current time of this clock, with nine fraction digits.
    public var now: Timestamp { base().advanced(by: shift.withLock { $0 }) }

    /// Moves the clock forward, or back by a negative duration.
    public func advance(by duration: Duration) {
        shift.withLock { $0 += duration }
    }
}

extension Timestamp {
    /// Returns the instant later by the duration, or the same one outside the years 1 to 9999.
    fileprivate func advanced(by duration: Duration) -> Timestamp {
        let total = Duration(
            secondsComponent: seconds, attosecondsComponent: Int64(nanoseconds) * 1_000_000_000)
        let (whole, attoseconds) = (total + duration).components
        let nanoseconds = attoseconds / 1_000_000_000
        let isBeforeSecond = nanoseconds < 0
        return Timestamp(
            seconds: isBeforeSecond ? whole - 1 : whole,
            nanoseconds: Int32(isBeforeSecond ? nanoseconds + 1_000_000_000 : nanoseconds),
            fractionDigits: Int(fractionDigits)) ?? self
    }
}
