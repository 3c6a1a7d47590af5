// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Limits shrinking independently of the store's speed, so that equal scripts are shrunk equally. A long script costs more
/// than a short one, so the steps are limited too.
struct ShrinkingLimit {
    var runs: Int
    /// The number of steps in all runs.
    var steps: Int

    static let standard = ShrinkingLimit(runs: 400, steps: 12_000)

    func permits(_ spent: ShrinkingLimit) -> Bool { spent.runs < runs && spent.steps < steps }
}

extension ModelMachine {
    /// Returns the shortest script found that still shows a difference, with that difference; `nil` when the script
    /// shows none.
    ///
    /// Removes steps, actions and items as long as the stores still differ, each time on a fresh store.
    ///
    /// - Parameters:
    ///   - limit: when to stop and return the shortest script so far.
    ///   - willRun: called before each run of a script, with its length.
    func shrunk(
        _ steps: [ModelStep], firstStoreIndex: Int, limit: ShrinkingLimit = .standard,
        willRun: (_ length: Int) -> Void = { _ in }
    ) -> (steps: [ModelStep], Difference)? {
        var storeIndex = firstStoreIndex
        var spent = ShrinkingLimit(runs: 0, steps: 0)
        func difference(_ steps: [ModelStep]) -> Difference? {
            storeIndex += 1
            spent.runs += 1
            spent.steps += steps.count
            willRun(steps.count)
            do {
                _ = try run(steps, at: storeIndex)
                return nil
            } catch {
                return error as? Difference
            }
        }
        guard var found = difference(steps) else { return nil }
        var shortest = steps
        /// Accepts the candidate if it shows a difference too.
        func accept(_ candidate: [ModelStep]) -> Bool {
            guard limit.permits(spent), let other = difference(candidate) else { return false }
            (shortest, found) = (candidate, other)
            return true
        }
        var isShrinking = true
        while isShrinking, limit.permits(spent) {
            isShrinking = removeRanges(from: { shortest }, accept)
            for index in shortest.indices.reversed() {
                for smaller in shortest[index].smaller where accept(shortest.replacing(index, with: smaller))
                {
                    isShrinking = true
                    break
                }
            }
        }
        return (shortest, found)
    }

    /// Removes ranges of steps, the longest first.
    private func removeRanges(from steps: () -> [ModelStep], _ accept: ([ModelStep]) -> Bool) -> Bool {
        var removed = false
        var length = max(1, steps().count / 2)
        while true {
            var start = max(0, steps().count - length)
            while true {
                var candidate = steps()
                candidate.removeSubrange(start..<min(start + length, candidate.count))
                if !candidate.isEmpty, candidate.count < steps().count, accept(candidate) { removed = true }
                if start == 0 { break }
                start = max(0, start - length)
            }
            if length == 1 { return removed }
            length /= 2
        }
    }
}

extension ModelStep {
    /// Variants of the step with one element less.
    fileprivate var smaller: [ModelStep] {
        switch self {
        case .write(let actions, let fails):
            let fewer = actions.shorter.map { ModelStep.write($0, fails: fails) }
            guard actions.count <= 20 else { return fewer }
            let simpler = actions.indices.flatMap { index in
                actions[index].smaller.map {
                    ModelStep.write(actions.replacing(index, with: $0), fails: fails)
                }
            }
            return actions.count > 1 ? fewer + simpler : simpler
        case .read(let reads, let fails):
            guard reads.count > 1 else { return [] }
            return reads.indices.map { .read(reads.removing($0), fails: fails) }
        case .reopen:
            return []
        }
    }
}

extension ModelAction {
    fileprivate var smaller: [ModelAction] {
        guard case .upsert(let items, let table) = self else { return [] }
        let fewer = items.count > 1 ? items.shorter.map { ModelAction.upsert($0, table: table) } : []
        guard items.count <= 20 else { return fewer }
        let withFewerFields = items.indices.flatMap { index in
            items[index].fields.keys.map { name in
                var item = items[index]
                item.fields[name] = nil
                return ModelAction.upsert(items.replacing(index, with: item), table: table)
            }
        }
        return fewer + withFewerFields
    }
}

extension Array {
    /// Variants with one element less, or with a quarter of many elements less.
    fileprivate var shorter: [[Element]] {
        guard count > 20 else { return indices.map(removing) }
        return (0..<4).map { quarter in
            var copy = self
            copy.removeSubrange(count * quarter / 4..<count * (quarter + 1) / 4)
            return copy
        }
    }

    fileprivate func removing(_ index: Int) -> [Element] {
        var copy = self
        copy.remove(at: index)
        return copy
    }

    fileprivate func replacing(_ index: Int, with element: Element) -> [Element] {
        var copy = self
        copy[index] = element
        return copy
    }
}
