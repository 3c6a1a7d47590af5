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
    public var now: Timestamp { base().advanced(by: shift.withLock { $0 }) }

    /// Moves the clock forward, or back by a negative duration.
    public func advance(by duration: Duration) {
        shift.withLock { $0 += duration }
    }
}
