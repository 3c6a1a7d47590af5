// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore
import Synchronization

/// What tells a server the time; it can stand still and be put forward or back.
///
/// While it stands still, all rows written share one `updatedAt`.
public final class ServerClock: Sendable {
    private let base: @Sendable () -> Timestamp
    private let shift = Mutex(Duration.zero)

    private init(base: @escaping @Sendable () -> Timestamp) {
        self.base = base
    }

    /// The system's clock, to about a microsecond.
    public static func system() -> ServerClock {
        ServerClock {
            let now = Date().timeIntervalSince1970
            let seconds = now.rounded(.down)
            return Timestamp(
                seconds: Int64(seconds), nanoseconds: Int32((now - seconds) * 1e9), fractionDigits: 9)
                ?? Timestamp(Date())
        }
    }

    /// A clock that stands at an instant until it is moved.
    public static func standing(at instant: Timestamp) -> ServerClock {
        ServerClock { instant.showing(fractionDigits: 9) }
    }

    /// What the clock shows, with nine fraction digits.
    public var now: Timestamp { base().advanced(by: shift.withLock { $0 }) }

    /// Puts the clock forward, or back by a negative duration.
    public func advance(by duration: Duration) {
        shift.withLock { $0 += duration }
    }
}

extension Timestamp {
    /// The instant that much later, as far as years 1 to 9999 go.
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
