// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// What the external commit stamp counts.
    @RuleList static var sharedChanges: [StoreRule] {
        StoreRule(
            "capability.stamp.own", "The external commit stamp of a single-process store never changes.",
            level: .full, requirement: .undeclared(.multiProcess)
        ) { run in
            try run.expectStampOfOthers(in: try run.store)
        }
        StoreRule(
            "capability.multi-process.stamp.own",
            "An opening's own writes, successful or not, neither change its stamp nor hide commits of other openings.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let (store, second) = (try run.store, try run.open())
            try run.expectStampOfOthers(in: store)
            for (index, change) in DataChange.all.enumerated() {
                let number = Int64(index + 10)
                let before = try store.stamp
                run.fail(change, number, in: store)
                try second.write { try change.make($0, number + 10) }
                let afterFailure = try store.stamp
                try run.expect(
                    afterFailure != before,
                    "The stamp changes after the other opening's commit of \(change.kind), which follows an own failed write."
                )
                try second.write { try change.make($0, number + 20) }
                try store.write { try change.make($0, number + 30) }
                try run.expect(
                    try store.stamp != afterFailure,
                    "The stamp changes after the other opening's commit of \(change.kind), which an own commit follows."
                )
            }
        }
        StoreRule(
            "capability.multi-process.stamp.several",
            "The stamps before and after any number of commits of another opening differ; a failed write changes none.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let (store, second) = (try run.store, try run.open())
            var stamps = [try store.stamp]
            var number: Int64 = 0
            for commits in 1...8 {
                for _ in 0..<commits {
                    number += 1
                    try second.write { try $0.setConfigValue("\(number)", for: Fixture.key("k")) }
                }
                let stamp = try store.stamp
                try run.expect(
                    !stamps.contains(stamp),
                    "The stamp after \(commits) commits of the other opening, \(stamp), differs from the earlier ones: "
                        + stamps.exactDescription)
                for change in DataChange.all { run.fail(change, number, in: second) }
                try run.expect(
                    try store.stamp, is: stamp, "the stamp after the other opening's failed writes")
                stamps.append(stamp)
            }
            // More commits than a counter of one byte has values.
            for commit in 1...300 as ClosedRange<Int64> {
                try second.write { try $0.setConfigValue("\(number + commit)", for: Fixture.key("k")) }
                let stamp = try store.stamp
                try run.expect(
                    !stamps.contains(stamp),
                    "The stamp \(stamp) after \(number + commit) commits is a new one.")
                stamps.append(stamp)
            }
        }
    }
}

extension SyncContextDataSource {
    /// The external commit stamp in a write without changes.
    fileprivate var stamp: Int64 {
        get throws { try write { try $0.externalCommitStamp() } }
    }
}

extension RuleRun {
    /// Makes a change in a write that throws.
    fileprivate func fail(_ change: DataChange, _ number: Int64, in store: any SyncContextDataSource) {
        try? store.write { transaction in
            try change.make(transaction, number)
            throw AppError()
        }
    }

    /// Expects that the writes of the opening do not change its stamp.
    fileprivate func expectStampOfOthers(in store: any SyncContextDataSource) throws {
        let first = try store.stamp
        for (index, change) in DataChange.all.enumerated() {
            let stamps = try store.write { transaction in
                let before = try transaction.externalCommitStamp()
                try change.make(transaction, Int64(index + 1))
                return [before, try transaction.externalCommitStamp()]
            }
            try expect(
                stamps, is: [first, first],
                "the stamps before and after a change of \(change.kind) in a write")
            try expect(
                try store.stamp, is: first, "the stamp after the opening's own commit of \(change.kind)")
            fail(change, Int64(index + 2), in: store)
            try expect(
                try store.stamp, is: first, "the stamp after the opening's own failed write of \(change.kind)"
            )
        }
    }
}
