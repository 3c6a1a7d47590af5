// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ModelMachine {
    /// The shortest script found that still differs, and where it does; `nil` when the script does not differ.
    ///
    /// Steps, acts and items are left out as long as the two still differ somewhere, each time on a fresh store.
    func shrunk(_ steps: [ModelStep], firstPlace: Int, maxRuns: Int = 600) -> (
        steps: [ModelStep], Difference
    )? {
        var place = firstPlace
        func difference(_ steps: [ModelStep]) -> Difference? {
            place += 1
            do {
                _ = try run(steps, at: place)
                return nil
            } catch {
                return error as? Difference
            }
        }
        guard var found = difference(steps) else { return nil }
        var shortest = steps
        /// Takes the candidate if it differs too.
        func take(_ candidate: [ModelStep]) -> Bool {
            guard place - firstPlace < maxRuns, let other = difference(candidate) else { return false }
            (shortest, found) = (candidate, other)
            return true
        }
        var isShrinking = true
        while isShrinking {
            isShrinking = removeRuns(from: { shortest }, take)
            for index in shortest.indices.reversed() {
                for smaller in shortest[index].smaller where take(shortest.replacing(index, with: smaller)) {
                    isShrinking = true
                    break
                }
            }
            if place - firstPlace >= maxRuns { break }
        }
        return (shortest, found)
    }

    /// Leaves out runs of steps, the long ones first.
    private func removeRuns(from steps: () -> [ModelStep], _ take: ([ModelStep]) -> Bool) -> Bool {
        var removed = false
        var length = max(1, steps().count / 2)
        while true {
            var start = max(0, steps().count - length)
            while true {
                var candidate = steps()
                candidate.removeSubrange(start..<min(start + length, candidate.count))
                if !candidate.isEmpty, candidate.count < steps().count, take(candidate) { removed = true }
                if start == 0 { break }
                start = max(0, start - length)
            }
            if length == 1 { return removed }
            length /= 2
        }
    }
}

extension ModelStep {
    /// The same step with one thing less.
    fileprivate var smaller: [ModelStep] {
        switch self {
        case .write(let acts, let fails):
            let fewer = acts.shorter.map { ModelStep.write($0, fails: fails) }
            guard acts.count <= 20 else { return fewer }
            let slighter = acts.indices.flatMap { index in
                acts[index].smaller.map { ModelStep.write(acts.replacing(index, with: $0), fails: fails) }
            }
            return acts.count > 1 ? fewer + slighter : slighter
        case .read(let questions, let fails):
            guard questions.count > 1 else { return [] }
            return questions.indices.map { .read(questions.removing($0), fails: fails) }
        case .reopen:
            return []
        }
    }
}

extension ModelAct {
    fileprivate var smaller: [ModelAct] {
        guard case .upsert(let items, let table) = self else { return [] }
        let fewer = items.count > 1 ? items.shorter.map { ModelAct.upsert($0, table: table) } : []
        guard items.count <= 20 else { return fewer }
        let poorer = items.indices.flatMap { index in
            items[index].fields.keys.map { name in
                var item = items[index]
                item.fields[name] = nil
                return ModelAct.upsert(items.replacing(index, with: item), table: table)
            }
        }
        return fewer + poorer
    }
}

extension Array {
    /// The array with one element less; of many elements a quarter less.
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
