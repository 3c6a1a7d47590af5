// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Incremental pulls of several pages miss no row and end.
@Suite struct PagingTests {
    @Test(arguments: StoreKind.allCases, PullStrategy.allCases)
    func `a thousand rows with one timestamp are all pulled in pages of fifty`(
        _ kind: StoreKind, _ strategy: PullStrategy
    ) async throws {
        try await Scenario.run(on: kind, rows: 1000, interval: .zero, delay: .zero) { scenario, a in
            var settings = PullSettings()
            settings.strategy = strategy
            let result = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            // The skip strategy receives rows with the timestamp of the token again.
            #expect(result.upserted == 1000)
            #expect(strategy == .skip || result.received == 1000)
            try await scenario.expectAgreement(a)
            scenario.server.clock.advance(by: .milliseconds(1))
            try await scenario.server.update("row-7", ["text": "changed"], in: Todo.name)
            let again = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(again.upserted == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [0, 1, 49, 50, 51, 100, 101], [1, 7, 50])
    func `any number of rows is pulled with any page size in the fewest requests`(
        _ count: Int, _ size: Int
    ) async throws {
        for kind in StoreKind.eachStorage {
            try await Scenario.run(on: kind, rows: count, interval: .zero, delay: .zero) { scenario, a in
                let result = try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: size))
                #expect(result.received == count)
                // Only an empty page ends a pull.
                #expect(result.pages == (count + size - 1) / size + 1)
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases, PullStrategy.allCases)
    func `a row with a timestamp in the future hides no later change`(
        _ kind: StoreKind, _ strategy: PullStrategy
    ) async throws {
        try await Scenario.run(on: kind, rows: 3, interval: .zero, delay: .zero) { scenario, a in
            var settings = PullSettings()
            settings.strategy = strategy
            let future = try #require(Timestamp("2099-01-01T00:00:00Z"))
            try await scenario.server.put("future", ["text": "2099"], in: Todo.name, updatedAt: future)
            let first = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(first.upserted == 4)
            scenario.server.clock.advance(by: .seconds(60))
            try await scenario.server.update("row-1", ["text": "changed"], in: Todo.name)
            let second = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(second.upserted == 1)
            try await scenario.expectAgreement(a)
            let third = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(third.upserted == 0)
        }
    }

    @Test
    func
        `rows with the token's timestamp are received again while the server's clock is behind, and no others`()
        async throws
    {
        let lastSecond = try #require(Timestamp("2020-01-01T00:00:19Z"))
        try await Scenario.run(
            on: .memory, rows: 0, interval: .zero, delay: .zero,
            configure: { $0.clock = .standing(at: lastSecond) }
        ) { scenario, a in
            for second in 10..<20 {
                let past = try #require(Timestamp("2020-01-01T00:00:\(second)Z"))
                try await scenario.server.put("row-\(second)", ["text": "x"], in: Todo.name, updatedAt: past)
            }
            let first = try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 3))
            #expect(first.upserted == 10)
            let second = try await a.context.pull(Todo.query, queryID: "all")
            #expect(second.received == 1)
            #expect(second.unchanged == 1)
        }
    }

    @Test(arguments: [1, 10, 49, 50, 99], PullStrategy.allCases)
    func `no row is missed when the server caps its pages below the requested size`(
        _ cap: Int, _ strategy: PullStrategy
    ) async throws {
        for kind in StoreKind.eachStorage {
            try await Scenario.run(
                on: kind, rows: 120, interval: .zero, delay: .zero, configure: { $0.pageSize = cap }
            ) { scenario, a in
                var settings = PullSettings.pages(of: 100)
                settings.strategy = strategy
                let result = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
                #expect(result.upserted == 120)
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: [0, 3, 7], PullStrategy.allCases)
    func `no row is missed when the server shows fewer fraction digits than it stores`(
        _ shown: Int, _ strategy: PullStrategy
    ) async throws {
        for kind in StoreKind.eachStorage {
            try await Scenario.run(
                on: kind,
                configure: {
                    $0.clock = .standing(at: .unixEpoch)
                    $0.fractionDigits = shown
                    $0.keptFractionDigits = 9
                    $0.pageSize = 20
                },
                { scenario in
                    let random = SharedRandomGenerator(seed: 3)
                    for number in 0..<90 {
                        scenario.server.clock.advance(
                            by: .nanoseconds(random.next() % 3 == 0 ? 400_000_001 : 7))
                        try await scenario.server.put(
                            "\(random.next() % 1000)-\(number)", ["text": "x"], in: Todo.name)
                    }
                    let a = try scenario.device()
                    var settings = PullSettings.pages(of: 20)
                    settings.strategy = strategy
                    try await a.context.pull(Todo.query, queryID: "all", settings: settings)
                    try await scenario.expectAgreement(a)
                    scenario.server.clock.advance(by: .seconds(2))
                    try await scenario.server.put("new", ["text": "new"], in: Todo.name)
                    let again = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
                    #expect(again.upserted == 1)
                    try await scenario.expectAgreement(a)
                })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changes of the server's rows between two pages are not missed`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            try await scenario.putRows(60, interval: .milliseconds(1))
            let random = SharedRandomGenerator(seed: 17)
            scenario.server.onRequest { request in
                guard request.isPage, scenario.server.requests.count < 30 else { return .none }
                scenario.server.clock.advance(by: .milliseconds(1))
                for _ in 0..<3 {
                    let id = "row-\(random.next() % 80)"
                    if random.next() % 3 == 0 {
                        try? await scenario.server.remove(id, in: Todo.name)
                    } else {
                        _ = try? await scenario.server.put(
                            id, ["text": .text("\(random.next())")], in: Todo.name)
                    }
                }
                return .none
            }
            let a = try scenario.device()
            try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 7))
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `after a crash between pages the pull resumes at the token of the last stored page`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            try await scenario.putRows(30, interval: .milliseconds(1))
            scenario.server.clock.advance(by: .seconds(10))
            var a = try scenario.crashableDevice()
            for page in 1...3 {
                scenario.server.inject(.none, .dropAnswer, .dropAnswer, .dropAnswer, when: \.isPage)
                await expectError(.pullAborted) {
                    try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 5))
                }
                scenario.server.removeFaults()
                a = try scenario.restart(a)
                let items = try await a.table.items()
                #expect(items.count == 5 * page)
                let newest = items.compactMap(\.system.updatedAt).max()
                #expect(try await a.context.deltaTokens(of: Todo.name)["all"] == newest?.description)
            }
            let rest = try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 5))
            #expect(rest.received == 15)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a changed query under the same query ID restarts the pull`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            for (id, complete) in [("a", false), ("b", true)] {
                try await scenario.server.put(id, ["complete": .bool(complete)], in: Todo.name)
            }
            let a = try scenario.crashableDevice()
            try await a.context.pull(Todo.query.where(.column("complete") == true), queryID: "mine")
            #expect(try await a.table.items().map(\.id) == ["b"])
            let restarted = try scenario.restart(a)
            try await restarted.context.pull(Todo.query.where(.column("complete") == false), queryID: "mine")
            #expect(try await restarted.table.items().map(\.id) == ["a", "b"])
            let other = try await restarted.context.pull(
                Todo.query.where(.column("complete") == false).parameter("tenant", "2"), queryID: "mine")
            #expect(other.received == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an or in the user's filter does not open the delta filter`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            for (id, text) in [("a", "x'y&z#+%"), ("b", "two"), ("c", "three")] {
                scenario.server.clock.advance(by: .seconds(1))
                try await scenario.server.put(id, ["text": .text(text)], in: Todo.name)
            }
            let a = try scenario.device()
            scenario.server.clock.advance(by: .seconds(10))
            let query = Todo.query.where(.column("text") == "x'y&z#+%" || .column("text") == "two")
            #expect(try await a.context.pull(query, queryID: "or").received == 2)
            #expect(try await a.context.pull(query, queryID: "or").received == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row committed late is pulled within the overlap window`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let a = try scenario.device()
            let gate = RequestGate()
            scenario.server.clock.advance(by: .seconds(10))
            scenario.server.inject(.commitLate(gate), when: \.isWrite)
            let b = try scenario.device("B")
            try await b.table.insert(["id": "late", "text": "late"])
            async let pushed = b.context.push()
            await gate.waitForArrivals()
            scenario.server.clock.advance(by: .seconds(1))
            try await scenario.server.put("soon", ["text": "soon"], in: Todo.name)
            try await a.sync()
            gate.open()
            _ = try await pushed
            let again = try await a.context.pull(
                Todo.query, queryID: "all", settings: .pages(of: 50, overlap: .seconds(5)))
            #expect(again.upserted == 1)
            #expect(again.unchanged == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a second pull without changes writes nothing to the store`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, rows: 20, interval: .zero, delay: .zero) { scenario, a in
            let settings = PullSettings.pages(of: 50, overlap: .seconds(60))
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            let again = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(again.received == 20)
            #expect(again.unchanged == 20)
            #expect(again.upserted == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a tombstone of an unknown row is ignored, and a later insert of the same id is stored`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            for id in ["x", "y"] {
                try await scenario.server.put(id, ["text": "one"], in: Todo.name)
                try await scenario.server.remove(id, in: Todo.name)
            }
            try await scenario.server.put("y", ["text": "again"], in: Todo.name)
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(result.deleted == 0)
            #expect(try await a.texts() == ["again"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the last of several copies of a row in one page is stored`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let rows = [
                #"{"id":"x","text":"one","updatedAt":"2020-01-01T00:00:01Z","version":"1"}"#,
                #"{"id":"x","text":"two","updatedAt":"2020-01-01T00:00:02Z","version":"2","deleted":true}"#,
                #"{"id":"y","text":"one","updatedAt":"2020-01-01T00:00:03Z","version":"1","deleted":true}"#,
                #"{"id":"y","text":"two","updatedAt":"2020-01-01T00:00:04Z","version":"2"}"#,
                #"{"id":"z","text":"one","updatedAt":"2020-01-01T00:00:05Z","version":"1"}"#,
                #"{"id":"z","text":"two","updatedAt":"2020-01-01T00:00:06Z","version":"2"}"#,
            ]
            let body = Data("[\(rows.joined(separator: ","))]".utf8)
            scenario.server.inject(.answer(status: 200, headers: [:], body: body), when: \.isPage)
            try await a.context.pull(Todo.query, queryID: "all")
            #expect(try await a.table.items().map(\.id) == ["y", "z"])
            #expect(try await a.texts() == ["two", "two"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a limit that is not a multiple of the page size is exact`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, rows: 60, interval: .zero, delay: .zero) { scenario, a in
            let result = try await a.context.pull(
                Todo.query.order(byDescending: "text").limit(23), settings: .pages(of: 10))
            #expect(result.received == 23)
            #expect(try await a.table.items().count == 23)
            #expect(try await a.context.deltaTokens(of: Todo.name).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `tombstones do not count towards a limit`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind, rows: 60) { scenario, a in
            for number in stride(from: 0, to: 60, by: 2) {
                try await scenario.server.remove("row-\(number)", in: Todo.name)
            }
            for query in [Todo.query.limit(25), Todo.query.order(by: "text").limit(25)] {
                try await a.context.pull(query, settings: .pages(of: 10))
                #expect(try await a.table.items().count == 25)
                try await a.context.purge(Todo.query)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `tombstones do not count towards an offset, and those before it are applied`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 60) { scenario, a in
            let query = Todo.query.order(by: "text").offset(17).limit(9)
            let device = try scenario.wholeRowDevice("before")
            try await device.context.pull(Todo.query.where(.column("text") < "3"))
            for number in stride(from: 0, to: 60, by: 3) {
                try await scenario.server.remove("row-\(number)", in: Todo.name)
            }
            let texts = (0..<60).filter { $0 % 3 != 0 }.map(String.init).sorted()
            let window = Array(texts[17..<26])
            for size in [1, 10, 50] {
                try await a.context.pull(query, settings: .pages(of: size))
                #expect(try await a.texts() == window)
            }
            try await device.context.pull(query)
            let kept = texts.filter { $0 < "3" } + window
            #expect(try await device.texts() == Set(kept).sorted())
            try await a.context.purge(Todo.query)
            try await a.context.pull(Todo.query.offset(35), settings: .pages(of: 10))
            #expect(try await a.texts() == Array(texts[35...]))
            #expect(try await a.context.pull(Todo.query.offset(40)).upserted == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row in the future hides no later change from a device whose clock is ahead`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 2, interval: .zero, delay: .zero) { scenario, _ in
            let later = try #require(Timestamp("2099-01-01T00:00:00Z"))
            let a = try scenario.device("ahead", environment: { $0.now = { later } })
            let inHalfAnHour = Timestamp.unixEpoch.advanced(by: .seconds(1800))
            try await scenario.server.put("future", ["text": "f"], in: Todo.name, updatedAt: inHalfAnHour)
            try await a.context.pull(Todo.query, queryID: "all")
            scenario.server.clock.advance(by: .seconds(600))
            try await scenario.server.update("row-1", ["text": "changed"], in: Todo.name)
            #expect(try await a.context.pull(Todo.query, queryID: "all").upserted == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull with an order and without a window misses no row when another one is removed`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }) {
            scenario in
            let (server, a) = (scenario.server, try scenario.device())
            for id in ["a", "b", "c"] { try await server.put(id, ["text": .text(id)], in: Todo.name) }
            let gate = RequestGate()
            server.onRequest { _ in server.requests.count == 2 ? .hold(gate) : .none }
            let pull = Task {
                var settings = PullSettings()
                settings.pageSize = 1
                return try await a.context.pull(Todo.query.order(by: "text"), settings: settings)
            }
            await gate.waitForArrivals()
            try await server.remove("a", in: Todo.name, leavingTombstone: false)
            server.onRequest(nil)
            gate.open()
            _ = try await pull.value
            #expect(try await a.texts().suffix(2) == ["b", "c"])
        }
    }
}
