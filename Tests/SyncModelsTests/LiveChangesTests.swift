// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@_spi(StoreAuthor) @testable import SyncCore
@testable import SyncModels

/// What differs between two pages.
@Suite struct LiveChangesTests {
    @Test func `applied to a page, the changes give the next page`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let old = randomIDs(&random)
            var new = old.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
            new += randomIDs(&random).filter { !old.contains($0) }
            if Bool.random(using: &random) { new.shuffle(using: &random) }
            let changes = LiveChanges(from: texts(old), to: texts(new), changed: [])
            #expect(old.applying(changes, from: new) == new, "\(old) \(new) \(changes)")
            #expect(Set(changes.inserted.map { new[$0] }) == Set(new).subtracting(old))
            #expect(Set(changes.removed.map { old[$0] }) == Set(old).subtracting(new))
        }
    }

    @Test func `one row that moves is one move`() {
        let changes = LiveChanges(
            from: texts(["a", "b", "c", "d"]), to: texts(["d", "a", "b", "c"]), changed: texts(["d"]).asSet)
        #expect(changes.moved == [LiveChanges.Move(from: 3, to: 0)])
        #expect(changes.updated == [0])
        #expect(changes.removed.isEmpty && changes.inserted.isEmpty)
    }

    private func randomIDs(_ random: inout SeededGenerator) -> [String] {
        var ids = (0..<Int.random(in: 0...8, using: &random)).map { _ in
            "\(Int.random(in: 0..<20, using: &random))"
        }
        ids = Array(Set(ids)).sorted()
        ids.shuffle(using: &random)
        return ids
    }

    private func texts(_ ids: [String]) -> [UTF8Text] { ids.map(UTF8Text.init) }
}

extension [UTF8Text] {
    fileprivate var asSet: Set<UTF8Text> { Set(self) }
}

extension Array {
    /// Applies the changes in their documented order; new and updated elements are those of the next page.
    func applying(_ changes: LiveChanges, from next: some RandomAccessCollection<Element>) -> [Element] {
        func nextElement(_ index: Int) -> Element { next[next.index(next.startIndex, offsetBy: index)] }
        var result = self
        for index in (changes.removed + changes.moved.map(\.from)).sorted().reversed() {
            result.remove(at: index)
        }
        for index in (changes.inserted + changes.moved.map(\.to)).sorted() {
            result.insert(nextElement(index), at: index)
        }
        for index in changes.updated { result[index] = nextElement(index) }
        return result
    }
}
