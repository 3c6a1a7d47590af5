// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@testable import TableServer

/// The times of changes.
struct RowStampTests {
    private func settings(_ fractionDigits: Int, _ clock: ServerClock) -> RowStampSettings {
        var configuration = TableServer.Configuration(tables: [], clock: clock)
        configuration.fractionDigits = fractionDigits
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

    @Test func `an unreadable row of the database is an error without the id`() {
        let row = StoredRow(
            sequence: 1, id: "secret", createdAt: "", updatedAt: "", revision: 1, deleted: false, fields: "{}"
        )
        let error = #expect(throws: TableServerError.self) { try TableRow(row) }
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }
}
