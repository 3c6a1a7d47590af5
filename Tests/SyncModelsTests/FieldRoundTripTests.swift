// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncModels
import Testing

private enum Level: Int, FieldValue, CaseIterable { case one = 1, two, three }

private struct Place: Codable, Hashable, Sendable {
    var name: String
    var size: Double?
    var opened: Date?
    var photo: Data
}

/// A model with a property of each type.
private struct Everything: SyncModel, Equatable {
    var id = SyncID<Everything>()
    var flag = false, int = 0, int64 = Int64(0), int32 = Int32(0), int16 = Int16(0), int8 = Int8(0)
    var uint32 = UInt32(0), uint16 = UInt16(0), uint8 = UInt8(0), double = 0.0, float = Float(0)
    var text = "", date = Date(timeIntervalSince1970: 0), time = Timestamp.unixEpoch, data = Data()
    var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), url = URL(filePath: "/")
    var other: SyncID<Todo> = "", level = Level.one, priority = Priority.normal
    var maybeText: String?, maybeInt: Int?, maybeDate: Date?, maybeLevel: Level?, maybeID: SyncID<Todo>?
    var places: [Place] = [], names: [String: Int] = [:], maybePlace: Place?

    static let schema = ModelSchema(
        "Everything", Everything(), .field("flag", \.flag), .field("int", \.int), .field("int64", \.int64),
        .field("int32", \.int32), .field("int16", \.int16), .field("int8", \.int8),
        .field("uint32", \.uint32), .field("uint16", \.uint16), .field("uint8", \.uint8),
        .field("double", \.double), .field("float", \.float), .field("text", \.text), .field("date", \.date),
        .field("time", \.time), .field("data", \.data), .field("uuid", \.uuid), .field("url", \.url),
        .field("other", \.other, .unordered), .field("level", \.level), .field("priority", \.priority),
        .field("maybeText", \.maybeText), .field("maybeInt", \.maybeInt), .field("maybeDate", \.maybeDate),
        .field("maybeLevel", \.maybeLevel), .field("maybeID", \.maybeID, .unordered),
        .json("places", \.places), .json("names", \.names), .json("maybePlace", \.maybePlace))
}

/// Values of all types through a store.
@Suite struct FieldRoundTripTests {
    @Test(arguments: StoreKind.allCases)
    func `random models are equal after insert and update`(_ kind: StoreKind) async throws {
        var random = SeededGenerator(seed: 16)
        try await withContext(on: kind, .models(Everything.self)) { context in
            let table = context.table(Everything.self)
            for _ in 0..<60 {
                let model = Everything.random(&random)
                let inserted = try await table.insert(model)
                #expect(inserted == model)
                #expect(try await table.get(model.id) == model)
                var edited = Everything.random(&random)
                edited.id = model.id
                let target = edited
                #expect(try await table.update(model.id) { $0 = target } == target)
                #expect(try await table.get(model.id) == target)
            }
        }
    }

    @Test func `values are stored in the forms that other clients read`() async throws {
        try await withContext(.models(Everything.self)) { context in
            let table = context.table(Everything.self)
            let date = Date(timeIntervalSince1970: 1.5)
            let uuid = try #require(UUID(uuidString: "ABCDEF00-0000-7000-8000-000000000000"))
            var model = Everything(id: "x")
            (model.date, model.uuid, model.level, model.priority, model.other) = (
                date, uuid, .two, .high, "y"
            )
            (model.float, model.url) = (0.5, try #require(URL(string: "https://example.com/a%20b")))
            model.places = [Place(name: "a", size: 1, opened: date, photo: Data([1]))]
            try await table.insert(model)
            let item = try #require(try await table.raw.item(id: "x"))
            #expect(item["date"] == .date(Timestamp(date)))
            #expect(item["uuid"] == "abcdef00-0000-7000-8000-000000000000")
            #expect(item["level"] == 2 && item["priority"] == "high" && item["other"] == "y")
            #expect(item["float"] == 0.5 && item["url"] == "https://example.com/a%20b")
            #expect(
                item["places"]
                    == [["name": "a", "size": 1, "opened": "1970-01-01T00:00:01.500Z", "photo": "AQ=="]])
            #expect(item.fields["maybeText"] == .some(.null) && item.fields["maybePlace"] == .some(.null))
        }
    }

    @Test func `extreme numbers and texts are equal after insert`() async throws {
        try await withContext(.models(Everything.self)) { context in
            let table = context.table(Everything.self)
            var least = Everything()
            (least.int, least.int64, least.int32, least.int16, least.int8) = (.min, .min, .min, .min, .min)
            (least.double, least.float, least.text) = (-0.0, .leastNonzeroMagnitude, "a\u{0}é e\u{301}😀")
            var greatest = Everything()
            (greatest.int, greatest.int64, greatest.int32, greatest.int16, greatest.int8) = (
                .max, .max, .max, .max, .max
            )
            (greatest.uint32, greatest.uint16, greatest.uint8) = (.max, .max, .max)
            (greatest.double, greatest.float) = (.greatestFiniteMagnitude, .greatestFiniteMagnitude)
            for model in [least, greatest] {
                let inserted = try await table.insert(model)
                #expect(inserted == model)
            }
        }
    }

    @Test func `a stored value that a property cannot hold is the blank value`() async throws {
        try await withContext(.models(Everything.self)) { context in
            let table = context.table(Everything.self)
            try await table.raw.insert([
                "id": "x", "int8": 128, "uint16": -1, "uuid": "no", "level": 9, "maybeLevel": 9,
                "places": ["name": "no list"], "float": 1e300,
            ])
            #expect(try await table.get("x") == Everything(id: "x"))
        }
    }
}

extension Everything {
    fileprivate static func random(_ random: inout SeededGenerator) -> Everything {
        func date() -> Date {
            Timestamp(Date(timeIntervalSince1970: .random(in: -1e9...4e9, using: &random))).date
        }
        func text() -> String {
            String(
                (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    "aé\u{301}😀 '\"\\".randomElement(using: &random)!
                })
        }
        func data() -> Data { Data((0..<9).map { _ in UInt8.random(in: 0...255, using: &random) }) }
        func maybe<T>(_ value: T) -> T? { Bool.random(using: &random) ? value : nil }
        func place() -> Place {
            Place(
                name: text(), size: maybe(.random(in: -9...9, using: &random)), opened: maybe(date()),
                photo: data())
        }
        var model = Everything()
        model.flag = .random(using: &random)
        model.int = .random(in: .min ... .max, using: &random)
        model.int64 = .random(in: .min ... .max, using: &random)
        model.int32 = .random(in: .min ... .max, using: &random)
        model.int16 = .random(in: .min ... .max, using: &random)
        model.int8 = .random(in: .min ... .max, using: &random)
        model.uint32 = .random(in: .min ... .max, using: &random)
        model.uint16 = .random(in: .min ... .max, using: &random)
        model.uint8 = .random(in: .min ... .max, using: &random)
        model.double = .random(in: -1e9...1e9, using: &random)
        model.float = .random(in: -1e9...1e9, using: &random)
        model.text = text()
        model.date = date()
        model.time = Timestamp(date()).showing(fractionDigits: .random(in: 0...9, using: &random))
        model.data = data()
        model.uuid = UUID()
        model.url = URL(filePath: "/\(model.int)")
        model.other = SyncID()
        model.level = Level.allCases.randomElement(using: &random)!
        model.priority = [.low, .normal, .high].randomElement(using: &random)!
        model.maybeText = maybe(text())
        model.maybeInt = maybe(.random(in: -9...9, using: &random))
        model.maybeDate = maybe(date())
        model.maybeLevel = maybe(.two)
        model.maybeID = maybe(SyncID())
        model.places = (0..<Int.random(in: 0...3, using: &random)).map { _ in place() }
        model.names = [text(): 1, "b": model.maybeInt ?? 0]
        model.maybePlace = maybe(place())
        return model
    }
}
