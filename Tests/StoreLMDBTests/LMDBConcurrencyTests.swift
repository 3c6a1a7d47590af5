// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import SyncCore
import Testing

struct LMDBConcurrencyTests {
    @Test func `a read sees one state during concurrent writes`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put(["1"])
            try store.read { snapshot in
                let threads = Threads()
                threads.start {
                    try store.put(["2"])
                    try #expect(store.ids() == ["1", "2"])
                    try store.write { try $0.deleteItems(ids: ["1"], in: "Todo") }
                }
                try threads.join()
                try #expect(snapshot.items(matching: TableQuery("Todo")).items.map(\.id) == ["1"])
            }
            try #expect(store.ids() == ["2"])
        }
    }

    @Test func `a write is invisible before its commit`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.write { transaction in
                try transaction.upsert([Item(id: "1")], in: "Todo")
                let threads = Threads()
                threads.start { try #expect(store.ids().isEmpty) }
                try threads.join()
            }
            try #expect(store.ids() == ["1"])
        }
    }

    @Test func `a write that throws is rolled back, and the next one succeeds`() throws {
        struct Refusal: Error {}
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put(["1"])
            #expect(throws: Refusal.self) {
                try store.write { transaction in
                    try transaction.upsert([Item(id: "2")], in: "Todo")
                    try transaction.put(TableOperation(id: 5, table: "Todo", itemID: "2", kind: .insert))
                    throw Refusal()
                }
            }
            try store.write { try #expect($0.lastOperationID() == 0) }
            try #expect(store.ids() == ["1"])
        }
    }

    @Test func `writes of many threads are serialized`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            let key = ConfigKey(table: "", kind: .setting, name: "count")
            let threads = Threads()
            for _ in 0..<8 {
                threads.start {
                    for _ in 0..<25 {
                        try store.write { transaction in
                            let count = try transaction.configValue(key).flatMap(Int.init) ?? 0
                            try transaction.setConfigValue("\(count + 1)", for: key)
                        }
                    }
                }
            }
            try threads.join()
            try #expect(store.read { try $0.configValue(key) } == "200")
        }
    }

    @Test func `two hundred reads run concurrently`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put(["1"])
            let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let threads = Threads()
            for _ in 0..<200 {
                threads.start {
                    defer { isReading.signal() }
                    try store.read { snapshot in
                        isReading.signal()
                        mayEnd.wait()
                        try #expect(snapshot.items(matching: TableQuery("Todo")).items.map(\.id) == ["1"])
                    }
                }
            }
            for _ in 0..<200 { isReading.wait() }
            try store.put(["2"])
            for _ in 0..<200 { mayEnd.signal() }
            try threads.join()
        }
    }

    @Test func `a read above the limit is refused, and reads that throw do not count`() throws {
        struct Refusal: Error {}
        try TemporaryStore.with { temporary in
            let store = try temporary.open(maxReaders: 2)
            for _ in 0..<20 { #expect(throws: Refusal.self) { try store.read { _ in throw Refusal() } } }
            try store.read { _ in
                let threads = Threads()
                threads.start {
                    try store.read { _ in
                        let threads = Threads()
                        threads.start {
                            let error = #expect(throws: StoreError.self) { try store.ids() }
                            #expect(error?.code == .inputOutput)
                        }
                        try threads.join()
                    }
                }
                try threads.join()
            }
            try #expect(store.ids().isEmpty)
        }
    }

    @Test func `closing waits for running reads and refuses new ones`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put(["1"])
            let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let threads = Threads()
            let finished = Counter()
            threads.start {
                try store.read { snapshot in
                    isReading.signal()
                    mayEnd.wait()
                    try #expect(snapshot.item(id: "1", in: "Todo") != nil)
                }
            }
            isReading.wait()
            for _ in 0..<2 {
                threads.start {
                    try store.close()
                    finished.increment()
                }
            }
            // Reads until `close` has begun and refuses new reads.
            while (try? store.ids()) != nil {}
            #expect(finished.value == 0)
            mayEnd.signal()
            try threads.join()
            for change in [{ _ = try store.ids() }, { try store.put(["2"]) }] {
                let error = #expect(throws: StoreError.self, performing: change)
                #expect(error?.code == .closed)
            }
            try store.close()
            try #expect(temporary.open().ids() == ["1"])
        }
    }

    @Test func `a closed store returns no lock`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try #require(try store.tryLockPush()).release()
            try #require(try store.tryLockSync()).release()
            try store.close()
            for acquire in [store.tryLockPush, store.tryLockSync] {
                let error = #expect(throws: StoreError.self) { try acquire() }
                #expect(error?.code == .closed)
            }
        }
    }
}
