// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import SyncCore
import Testing

struct LMDBGrowthTests {
    private let smallest = 64 << 10

    @Test func `the file grows during many writes and concurrent reads`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open(mapSize: smallest)
            let (done, reads) = (Counter(), Counter())
            let threads = Threads()
            for _ in 0..<3 {
                threads.start {
                    var isDone = false
                    while !isDone {
                        isDone = done.value > 0
                        // Every write adds 50 items, so another count shows a partial write.
                        try #expect(store.ids().count % 50 == 0)
                        reads.increment()
                    }
                }
            }
            let text = String(repeating: "x", count: 200)
            for batch in 0..<60 { try store.put((0..<50).map { "\(batch)-\($0)" }, text: text) }
            done.increment()
            try threads.join()
            try #expect(store.ids().count == 3000)
            #expect(reads.value >= 3)
        }
    }

    @Test func `inserts grow the file and keep existing items`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open(mapSize: smallest)
            func item(_ index: Int, _ text: String) -> Item {
                Item(id: "\(index)", fields: ["text": .text(text + String(repeating: "x", count: 500))])
            }
            try store.write { transaction in
                for index in 0..<1000 {
                    try #expect(transaction.insert(item(index, "first"), in: "Todo"))
                    try #expect(!transaction.insert(item(index / 2, "second"), in: "Todo"))
                }
            }
            try store.read { snapshot in
                for index in 0..<1000 {
                    try #expect(snapshot.item(id: "\(index)", in: "Todo") == item(index, "first"))
                }
            }
        }
    }

    @Test func `one write may exceed the map many times, and its body runs once`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open(mapSize: smallest)
            try store.put(["a", "b"])
            var runs = 0
            try store.write { transaction in
                runs += 1
                try transaction.deleteItems(ids: ["a"], in: "Todo")
                for index in 0..<2000 {
                    let data = ItemValue.data(Data(repeating: UInt8(index % 256), count: 1000))
                    try transaction.upsert([Item(id: "\(index)", fields: ["data": data])], in: "Todo")
                    try #expect(transaction.item(id: "\(index / 2)", in: "Todo") != nil)
                }
                try transaction.deleteItems(ids: ["1"], in: "Todo")
            }
            #expect(runs == 1)
            try store.close()
            let reopened = try temporary.open(mapSize: smallest)
            try reopened.read { snapshot in
                let items = try snapshot.items(matching: TableQuery("Todo")).items
                #expect(items.count == 2000)
                try #expect(snapshot.item(id: "b", in: "Todo") != nil)
                try #expect(snapshot.item(id: "a", in: "Todo") == nil)
                for item in items where item.id != "b" {
                    let byte = UInt8((Int(item.id) ?? 0) % 256)
                    #expect(item["data"] == .data(Data(repeating: byte, count: 1000)))
                }
            }
        }
    }

    @Test func `a write that grows the file waits for a running read, whose snapshot stays the same`() throws
    {
        try TemporaryStore.with { temporary in
            let store = try temporary.open(mapSize: smallest)
            try store.put(["1"])
            let (isReading, isWriting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let threads = Threads()
            threads.start {
                try store.read { snapshot in
                    isReading.signal()
                    isWriting.wait()
                    for _ in 0..<100 {
                        try #expect(snapshot.items(matching: TableQuery("Todo")).items.count == 1)
                    }
                }
            }
            isReading.wait()
            try store.write { transaction in
                isWriting.signal()
                let items = (0..<2000).map { Item(id: "\($0)", fields: ["text": "some text"]) }
                try transaction.upsert(items, in: "Todo")
            }
            try threads.join()
            try #expect(store.ids().count == 2000)
        }
    }

    @Test func `a full store throws full, keeps its data, and accepts writes after a delete`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open(mapSize: smallest, maximumSize: 4 * smallest)
            let text = String(repeating: "x", count: 1000)
            var count = 0
            var refusal: StoreError?
            while refusal == nil {
                do {
                    try store.put(["\(count)"], text: text)
                    count += 1
                } catch { refusal = error as? StoreError }
            }
            #expect(refusal?.code == .full)
            #expect(count > 100)
            try #expect(store.ids().count == count)
            let error = #expect(throws: StoreError.self) {
                try store.write { transaction in
                    // The changes of a body that ignores the error must not be committed.
                    for index in 0..<500 {
                        try? transaction.upsert(
                            [Item(id: "n\(index)", fields: ["text": .text(text)])], in: "Todo")
                    }
                }
            }
            #expect(error?.code == .full)
            try #expect(store.ids().count == count)
            try store.write { try $0.deleteItems(ids: (0..<50).map { "\($0)" }, in: "Todo") }
            try store.put(["new"], text: text)
            try #expect(store.ids().count == count - 49)
            try store.close()
            try #expect(temporary.open(maximumSize: 4 * smallest).ids().count == count - 49)
        }
    }
}
