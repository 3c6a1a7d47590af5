// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Testing

@testable import TableServer

/// The times of changes.
struct RowStampTests {
    private func settings(
        _ fractionDigits: Int, _ clock: ServerClock, kept: Int? = nil
    ) -> RowStampSettings {
        var configuration = TableServer.Configuration(tables: [], clock: clock)
        configuration.fractionDigits = fractionDigits
        configuration.keptFractionDigits = kept
        return RowStampSettings(configuration)
    }

    @Test func `with seven digits, four thousand changes a second are not ahead of the clock`() {
        let clock = ServerClock.running(at: .noon)
        let settings = settings(7, clock)
        // The time of the last change of a server with three digits.
        var last = Timestamp.noon.storedText
        for _ in 0..<3000 {
            clock.advance(by: .microseconds(250))
            let stamp = settings.stamp(after: last).storedText
            #expect(stamp > last)
            last = stamp
        }
        #expect(last <= clock.now.advanced(by: .milliseconds(1)).storedText)
    }

    @Test(arguments: [0, 2, 3], [true, false])
    func `a change is not earlier than the one before, although times had more digits`(
        _ fractionDigits: Int, _ isStanding: Bool
    ) {
        let clock = isStanding ? ServerClock.standing(at: .noon) : .running(at: .noon)
        let last = "2024-05-30T12:00:00.765432100"
        let stamp = settings(fractionDigits, clock).stamp(after: last)
        #expect(stamp.storedText > last)
        #expect(stamp.storedText <= "2024-05-30T12:00:01.000000000")
        #expect(stamp.fractionDigits == fractionDigits)
    }

    /// When the `Date` of a response is more than a second after a time, its client no longer looks for rows of that time.
    @Test(
        arguments: [(0, nil), (1, nil), (2, 7), (3, nil), (3, 7), (7, nil)] as [(Int, Int?)], [true, false])
    func `no change gets a time that a client has completed, although the clock is set back`(
        _ digits: (shown: Int, kept: Int?), _ isStanding: Bool
    ) {
        for step in [Duration.seconds(-5), .seconds(-4.5), .milliseconds(-1), .seconds(-60)] {
            let clock = isStanding ? ServerClock.standing(at: .noon) : .running(at: .noon)
            let settings = settings(digits.shown, clock, kept: digits.kept)
            var last = settings.stamp(after: nil)
            let shown = last.showing(fractionDigits: digits.shown)
            clock.advance(by: .seconds(5))
            // The `Date` of a response that completes the time of the first change.
            _ = clock.now
            clock.advance(by: step)
            for _ in 0..<50 {
                let stamp = settings.stamp(after: last.storedText)
                #expect(!stamp.isEarlier(than: last))
                #expect(shown.isEarlier(than: stamp.showing(fractionDigits: digits.shown)))
                last = stamp
                clock.advance(by: .microseconds(100))
            }
            let limit = clock.latest.advanced(by: .seconds(1))
            #expect(last.isEarlier(than: limit), "The times are ahead of the clock.")
        }
    }

    @Test(arguments: [0, 2])
    func `after a restart with an earlier clock, a change has a later time than all before`(
        _ fractionDigits: Int
    ) {
        let last = Timestamp.noon.storedText
        let clock = ServerClock.running(at: .noon.advanced(by: .seconds(-60)))
        #expect(settings(fractionDigits, clock).stamp(after: last).storedText > last)
    }

    @Test func `a version is the base64 of the revision's digits`() {
        for revision in [0, 1, 9, 10, 99, 100, 12_345, 123_456, 9_999_999, .max, -1, .min] as [Int64] {
            let version = TableRow.version(ofRevision: revision)
            #expect(version == Data(String(revision).utf8).base64EncodedString())
        }
    }

    @Test func `an unreadable row of the database is an error without the id`() {
        let row = StoredRow(
            sequence: 1, id: "secret", createdAt: "", updatedAt: "", revision: 1, deleted: false, fields: "{}"
        )
        let error = #expect(throws: TableServerError.self) { try TableRow(row) }
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }
}
