// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

/// Blank values that cannot be stored, such as infinity. They are shown for columns that are null, and are not written.
@Suite struct UnstorableValueTests {
    private struct Measure: SyncModel {
        var id = SyncID<Measure>()
        var name = "", lowest = Double.infinity, mean = Double.nan, limits = Limits(), sums = [Double.nan]
        static let schema = ModelSchema(
            "Measure", Measure(), .field("name", \.name), .field("lowest", \.lowest),
            .field("mean", \.mean), .json("limits", \.limits), .json("sums", \.sums))
    }

    private struct Limits: Codable, Sendable {
        var lower = 0.0, upper = Double.infinity

        enum CodingKeys: CodingKey { case lower, upper }
        init() {}
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            lower = try container.decode(Double.self, forKey: .lower)
            upper = try container.decodeIfPresent(Double.self, forKey: .upper) ?? .infinity
        }
    }

    @Test func `an untouched value that cannot be stored is not written`() async throws {
        try await withContext(.models(Measure.self)) { context in
            let table = context.table(Measure.self)
            let limits: ItemValue = ["lower": 1.5]
            try await table.raw.insert(["id": "x", "name": "A", "limits": limits])
            try await table.update("x") { _ in }
            let original = try await table.update("x") { $0.name = "B" }
            var edited = original
            edited.name = "C"
            let saved = try await table.save(edited, from: original)
            #expect(saved.name == "C" && saved.lowest == .infinity && saved.mean.isNaN)
            #expect(saved.limits.lower == 1.5 && saved.limits.upper == .infinity)
            let item = try await table.raw.item(id: "x")
            #expect(item?["limits"] == limits)
            #expect(item?["lowest"]?.isNull != false && item?["sums"]?.isNull != false)
        }
    }

    @Test func `a change to a value that cannot be stored is refused`() async throws {
        try await withContext(.models(Measure.self)) { context in
            let table = context.table(Measure.self)
            try await table.raw.insert(["id": "x"])
            let changes: [@Sendable (inout Measure) -> Void] = [
                { $0.lowest = -.infinity }, { $0.mean = .infinity }, { $0.limits.upper = .nan },
                { $0.limits.lower = 1 }, { $0.sums = [.infinity] }, { $0.sums.append(1) },
            ]
            for change in changes {
                let refusal = await message { try await table.update("x", change) }
                #expect(refusal?.contains("of 'x' cannot be stored in the column") == true)
            }
        }
    }

    private struct Visit: SyncModel {
        var id = SyncID<Visit>()
        var name = "", last = Date.distantPast, first: Date?, end: End?, dates: [Date] = []
        static let schema = ModelSchema(
            "Visit", Visit(), .field("name", \.name), .field("last", \.last), .field("first", \.first),
            .field("end", \.end), .json("dates", \.dates))

        struct End: RawRepresentable, FieldValue { var rawValue: Date }
    }

    @Test func `a date that no timestamp is, is refused instead of stored as another`() async throws {
        try await withContext(.models(Visit.self)) { context in
            let table = context.table(Visit.self)
            try await table.raw.insert(["id": "x"])
            try await #expect(table.update("x") { $0.name = "A" }.last == .distantPast)
            let nan = Date(timeIntervalSince1970: .nan)
            for date in [Date.distantPast, nan, Date(timeIntervalSince1970: .infinity)] {
                let refusals = [
                    await message { try await table.update("x") { $0.first = date } },
                    await message { try await table.update("x") { $0.end = Visit.End(rawValue: date) } },
                    await message { try await table.update("x") { $0.dates = [date] } },
                ]
                for refusal in refusals {
                    #expect(refusal?.contains("of 'x' cannot be stored in the column") == true)
                }
            }
            let refusal = await message { try await table.insert(Visit(id: "y")) }
            #expect(
                refusal == """
                    Visit.last of 'y' cannot be stored in the column 'last': its date is not in the years 1 to 9999, as \
                    .distantPast; use an optional property for no date. Nothing was changed.
                    """)
            try await #expect(table.update("x") { $0.first = .distantFuture }.first == .distantFuture)
        }
    }

    @Test func `a change from a value that cannot be stored is written`() async throws {
        try await withContext(.models(Measure.self)) { context in
            let table = context.table(Measure.self)
            try await table.raw.insert(["id": "x", "limits": ["lower": 1.5]])
            let original = try await table.update("x") { $0.limits.upper = 2.5 }
            var edited = original
            (edited.lowest, edited.mean, edited.sums) = (1.5, 2.5, [])
            try await table.save(edited, from: original)
            let item = try await table.raw.item(id: "x")
            #expect(item?["limits"] == ["lower": 1.5, "upper": 2.5] && item?["sums"] == .array([]))
            #expect(item?["lowest"] == 1.5 && item?["mean"] == 2.5)
        }
    }

    @Test(arguments: [false, true])
    func `a conflict of a row with an untouched value that cannot be stored is merged`(
        _ isDeletedOnServer: Bool
    ) async throws {
        var settings = SyncSettings()
        settings.resolve(Measure.self) { conflict in
            (conflict.merged(preferring: .mine) ?? conflict.mine).map { .merge($0) } ?? .keepTheirs
        }
        try await withServer(.models(Measure.self), settings: settings) { context, server in
            let table = context.table(Measure.self)
            try await server.put("x", ["name": "base"], in: "Measure")
            try await table.pull()
            try await table.update("x") { $0.name = "mine" }
            if isDeletedOnServer {
                try await server.remove("x", in: "Measure")
            } else {
                try await server.update("x", ["name": "theirs"], in: "Measure")
            }
            try await context.push()
            let row = try #require(try server.row("x", in: "Measure"))
            #expect(!row.deleted && row.fields["name"] == "mine")
            #expect(row.fields["lowest"]?.isNull != false && row.fields["limits"]?.isNull != false)
        }
    }

    /// A limit that is encoded as a number, or as null if there is none.
    private struct Limit: Codable, Sendable, Equatable {
        var value: Int?

        init(_ value: Int?) { self.value = value }
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Int?.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// Between one and five stars.
    private struct Rating: Codable, Sendable, Equatable {
        var stars = 3

        init() {}
        init(from decoder: any Decoder) throws {
            stars = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .stars)
            guard (1...5).contains(stars) else {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: ""))
            }
        }
        private enum CodingKeys: CodingKey { case stars }
    }

    /// A text that is not empty.
    private struct Code: RawRepresentable, FieldValue, Equatable {
        var rawValue = "a"

        init() {}
        init(blank: ()) { rawValue = "" }
        init?(rawValue: String) {
            guard !rawValue.isEmpty else { return nil }
            self.rawValue = rawValue
        }
    }

    /// A date that is written as text and read as a date.
    private struct Day: FieldValue, Equatable {
        static let columnType = ColumnType.date
        var text: String

        init(_ text: String) { self.text = text }
        init?(itemValue: ItemValue) {
            guard case .date(let date) = itemValue else { return nil }
            text = "\(date)".replacing(".000Z", with: "Z")
        }
        var itemValue: ItemValue { .text(text) }
    }

    private struct Trip: SyncModel {
        var id = SyncID<Trip>()
        var code = Code(blank: ()), day = Day("2026-01-31T00:00:00Z")
        static let schema = ModelSchema(
            "Trip", Trip(), .field("code", \.code), .field("day", \.day, .required))
    }

    private struct Review: SyncModel {
        var id = SyncID<Review>()
        var rating = Rating(), second = Rating(), code = Code()
        static let schema = ModelSchema(
            "Review", Review(), .json("rating", \.rating), .json("second", \.second, .required),
            .field("code", \.code))
    }

    private struct Budget: SyncModel {
        var id = SyncID<Budget>()
        var limit = Limit(10), extra = Limit(nil), total = Limit(1)
        static let schema = ModelSchema(
            "Budget", Budget(), .json("limit", \.limit), .json("extra", \.extra),
            .json("total", \.total, .required))
    }

    @Test func `a value that its type encodes and does not decode is refused before anything is stored`()
        async throws
    {
        try await withContext(.models(Review.self)) { context in
            let table = context.table(Review.self)
            let stored = try await table.insert(Review())
            let changes: [@Sendable (inout Review) -> Void] = [
                { $0.rating.stars = 0 }, { $0.second.stars = 0 }, { $0.code.rawValue = "" },
            ]
            for change in changes {
                let refusal = await message { try await table.update(stored.id, change) }
                #expect(refusal?.contains("cannot read the value as which it would be stored") == true)
            }
            // A body that goes on after the refusal has not stored the refused model.
            try await context.batch { batch in
                var review = Review()
                review.rating.stars = 0
                let refused = review
                #expect(throws: SyncError.self) { _ = try batch.insert(refused) }
                _ = try batch.update(stored.id) { $0.code.rawValue = "b" }
            }
            #expect(try await table.fetch(Review.all).map(\.code.rawValue) == ["b"])
            #expect(try await context.status().pendingOperations == 1)
        }
    }

    /// The blank value of the property is shown for what cannot be read.
    @Test
    func `a blank value that its type cannot read is stored, and so is a value that its column converts`()
        async throws
    {
        try await withContext(.models(Trip.self)) { context in
            let table = context.table(Trip.self)
            let stored = try await table.insert(Trip())
            #expect(stored.code.rawValue.isEmpty && stored.day == Day("2026-01-31T00:00:00Z"))
            try await table.update(stored.id) { $0.code.rawValue = "b" }
            let blank = try await table.update(stored.id) { $0.code.rawValue = "" }
            #expect(blank.code.rawValue.isEmpty)
        }
    }

    @Test func `a value that is stored as null and read as another one is refused`() async throws {
        try await withContext(.models(Budget.self)) { context in
            let table = context.table(Budget.self)
            let stored = try await table.insert(Budget())
            let changes: [@Sendable (inout Budget) -> Void] = [
                { $0.limit = Limit(nil) }, { $0.total = Limit(nil) },
            ]
            for change in changes {
                let refusal = await message { try await table.update(stored.id, change) }
                #expect(refusal?.contains("make the property optional. Nothing was changed.") == true)
            }
            await #expect(throws: SyncError.self) {
                try await context.batch { batch in
                    var budget = Budget()
                    budget.total = Limit(nil)
                    _ = try batch.insert(budget)
                }
            }
            #expect(try await table.fetch(Budget.all).map(\.limit) == [Limit(10)])
            // A blank value that is stored as null is read as itself.
            try await table.update(stored.id) { $0.extra = Limit(2) }
            #expect(try await table.update(stored.id) { $0.extra = Limit(nil) }.extra == Limit(nil))
        }
    }
}
