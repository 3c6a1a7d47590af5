// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CFileFaults
import Foundation
import SyncCore
import TestSupport
import Testing

/// Each write, sync and truncation of a file fails once, while a process writes items.
@Suite(.enabled(if: file_faults_supported())) struct FailedCallTests {
    @Test(arguments: StoreKind.persistent)
    func `after a failed call, a store has exactly what was committed, and can be used`(_ kind: StoreKind)
        async throws
    {
        var codes: Set<String> = []
        var number = 1
        while let thrown = try await withTemporaryDirectory({ directory in
            try await run(kind, failingAt: number, in: directory.resolvingSymlinksInPath())
        }) {
            codes.formUnion(thrown)
            number += 1
        }
        #expect(number > 8)
        // A commit that fails when its data is in the file.
        #expect(codes.contains("outcomeUnknown"), "\(codes)")
    }

    /// Runs a process, and compares the items that its store has then.
    ///
    /// - Returns: the codes of the errors that writes have thrown; `nil` if there are fewer calls.
    private func run(_ kind: StoreKind, failingAt number: Int, in directory: URL) async throws -> [String]? {
        let file = directory.appending(path: "store").path
        let child = try await ChildProcess.run(["fail", kind.rawValue, file, "\(number)"])
        let comment: Comment = "call \(number): \(child.lines)"
        try #require(child.end == .exited(0), comment)
        let lines = child.lines.map { $0.split(separator: " ").map(String.init) }
        let kept = try #require(lines.last { $0.first == "kept" }?.last).split(separator: ",").map(
            String.init)
        let store = try kind.open(at: file, tables: [Thing.definition])
        let ids = try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
        try store.close()
        #expect(ids == kept, comment)
        for line in lines.prefix(4) where line[0] != "outcomeUnknown" {
            #expect(ids.contains(line[1]) == (line[0] == "stored"), comment)
        }
        #expect(ids.contains("4"), comment)
        return lines.last == ["failed", "true"]
            ? lines.prefix(4).map { $0[0] }.filter { $0 != "stored" } : nil
    }
}
