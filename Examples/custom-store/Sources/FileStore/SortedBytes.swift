// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Keys in byte order with their values. A copy is a snapshot: it shares all that later changes leave alone.
struct SortedBytes: Sendable {
    typealias Entry = (key: [UInt8], value: [UInt8])

    /// Sorted runs of sorted entries; a change copies one run.
    private var runs: [[Entry]] = []
    private static let maxLength = 128

    subscript(key: [UInt8]) -> [UInt8]? {
        get {
            let place = place(of: key)
            return holds(key, at: place) ? runs[place.run][place.index].value : nil
        }
        set {
            var place = place(of: key)
            switch (holds(key, at: place), newValue) {
            case (true, let value?): runs[place.run][place.index].value = value
            case (true, nil):
                runs[place.run].remove(at: place.index)
                if runs[place.run].isEmpty { runs.remove(at: place.run) }
            case (false, let value?):
                if place.run == runs.count {
                    if runs.isEmpty { runs.append([]) }
                    place = (runs.count - 1, runs[runs.count - 1].count)
                }
                runs[place.run].insert((key, value), at: place.index)
                split(place.run)
            case (false, nil): break
            }
        }
    }

    /// Runs the body on each entry in order, from the first that is not below the key, until it returns false.
    func forEach(from start: [UInt8], _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool) rethrows {
        var (run, index) = place(of: start)
        while run < runs.count {
            for entry in runs[run][index...] where try !body(entry.key, entry.value) { return }
            (run, index) = (run + 1, 0)
        }
    }

    private func holds(_ key: [UInt8], at place: (run: Int, index: Int)) -> Bool {
        place.run < runs.count && place.index < runs[place.run].count
            && runs[place.run][place.index].key == key
    }

    /// The first entry that is not below the key.
    private func place(of key: [UInt8]) -> (run: Int, index: Int) {
        let run = Self.firstIndex(in: runs.count) {
            runs[$0][runs[$0].count - 1].key.lexicographicallyPrecedes(key)
        }
        guard run < runs.count else { return (run, 0) }
        return (
            run, Self.firstIndex(in: runs[run].count) { runs[run][$0].key.lexicographicallyPrecedes(key) }
        )
    }

    private mutating func split(_ run: Int) {
        guard runs[run].count > Self.maxLength else { return }
        let half = runs[run].count / 2
        runs.insert(Array(runs[run][half...]), at: run + 1)
        runs[run].removeSubrange(half...)
    }

    private static func firstIndex(in count: Int, isBelow: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBelow(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
