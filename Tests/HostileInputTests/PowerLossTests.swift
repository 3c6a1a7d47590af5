// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CFileFaults
import Foundation
import StoreConformance
import SyncCore
import TestSupport
import Testing

/// The power fails at any moment of a process that writes: every write that has returned is kept, with its operation.
@Suite(.enabled(if: file_faults_supported()), .serialized) struct PowerLossTests {
    private static let imageCount = Thoroughness.isFull ? 300 : 25

    /// What the images of a process had after the power was restored.
    private struct Result {
        var images = 0
        var lost = 0
        var torn = 0
        var unreadable = 0
    }

    @Test(arguments: StoreKind.persistent)
    func `a power loss at any moment loses no write that has returned`(_ kind: StoreKind) async throws {
        let result = try await run(kind, program: kind.rawValue)
        #expect(result.images == Self.imageCount)
        #expect(result.lost == 0)
        #expect(result.torn == 0)
        #expect(result.unreadable == 0)
    }

    @Test func `the images show what relaxed durability loses`() async throws {
        let result = try await run(.sqlite, program: "sqlite-relaxed")
        #expect(result.lost > 0)
        #expect(result.torn == 0)
        #expect(result.unreadable == 0)
    }

    /// Records a process, and opens the files of many moments at which the power fails.
    private func run(_ kind: StoreKind, program: String) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let directory = directory.resolvingSymlinksInPath()
            let stored = directory.appending(path: "stored")
            try FileManager.default.createDirectory(at: stored, withIntermediateDirectories: false)
            let log = directory.appending(path: "log").path
            let child = try await ChildProcess.run([
                "write", program, stored.appending(path: "store").path, "https://unused.example", "record",
                log,
            ])
            #expect(child.end == .exited(0))
            let records = RecordedWrites(log: try Data(contentsOf: URL(filePath: log))).records
            // After the last returned write the process closes the store and removes files, which is not recorded.
            let last = try #require(records.lastIndex { $0.kind == UInt8(ascii: "m") && $0.offset > 0 })
            let first = try #require(records.firstIndex { $0.kind == UInt8(ascii: "m") })
            var random = SeededGenerator(seed: 2014)
            let moments = (0..<Self.imageCount).map { _ in Int.random(in: first...last, using: &random) }
            return try open(kind, records, at: moments.sorted(), in: directory, &random)
        }
    }

    private func open(
        _ kind: StoreKind, _ records: [RecordedWrites.Record], at moments: [Int], in directory: URL,
        _ random: inout SeededGenerator
    ) throws -> Result {
        var result = Result()
        var (files, next, returned) = (PowerLossFiles(), 0, 0)
        for (number, moment) in moments.enumerated() {
            while next <= moment {
                files.apply(records[next])
                if records[next].kind == UInt8(ascii: "m") { returned = max(returned, records[next].offset) }
                next += 1
            }
            let image = directory.appending(path: "image-\(number)")
            try FileManager.default.createDirectory(at: image, withIntermediateDirectories: false)
            // SQLite makes the index of its log again. It has removed the journal of the creation, which is not recorded.
            for (name, content) in files.image(&random)
            where !name.hasSuffix("-shm") && !name.hasSuffix("-journal") {
                try Data(content).write(to: image.appending(path: name))
            }
            result.images += 1
            do {
                let store = try kind.open(at: image.appending(path: "store").path)
                let (items, operations) = try store.read { snapshot in
                    (
                        Set(try snapshot.items(matching: Thing.query).items.map(\.id)),
                        Set(try snapshot.operations(after: 0, in: nil, limit: .max).map(\.itemID))
                    )
                }
                try store.write { try $0.upsert([Item(id: "after")], in: Thing.name) }
                try store.close()
                if items != operations { result.torn += 1 }
                if !items.isSuperset(of: (0..<returned).map { "new-\($0)" }) { result.lost += 1 }
            } catch is StoreError {
                result.unreadable += 1
            }
            try FileManager.default.removeItem(at: image)
        }
        return result
    }
}
