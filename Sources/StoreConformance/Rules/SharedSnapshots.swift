// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreRule {
    /// What reads of one opening see of the writes of another.
    @RuleList static var sharedSnapshots: [StoreRule] {
        StoreRule(
            "capability.multi-process.snapshot",
            "A read sees one state while another opening writes and commits; the next read sees the commit.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let (first, second) = (try run.store, try run.open())
            for (index, change) in DataChange.all.enumerated() {
                try run.expectSnapshot(of: first, beside: second, change, Int64(2 * index + 1))
                try run.expectSnapshot(of: second, beside: first, change, Int64(2 * index + 2))
            }
        }
        StoreRule(
            "capability.multi-process.snapshot.begin",
            "A read sees the state when its body begins, also if another opening commits before the first question.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            let (first, second) = (try run.store, try run.open())
            try first.write { try NumberedData.put(1, $0) }
            for (index, question) in NumberedData.questions.enumerated() {
                let (reader, writer) = index % 2 == 0 ? (first, second) : (second, first)
                try run.expectFirstAnswer(to: question, in: reader, beside: writer, Int64(index + 2))
            }
        }
        StoreRule(
            "capability.multi-process.whole-transactions",
            "Reads of one opening see only whole transactions of another.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            try run.expectWholeTransactions(of: try run.open(), readIn: try run.store)
        }
    }
}

extension RuleRun {
    /// Commits in one opening while a read of the other has begun and asked nothing. Expects the answer of the state before.
    fileprivate func expectFirstAnswer(
        to question: NumberedData.Question, in reader: any SyncContextDataSource,
        beside writer: any SyncContextDataSource, _ number: Int64
    ) throws {
        let before = try reader.read(question.ask)
        let isCommitted = Signal()
        let group = ThreadGroup()
        let answer = try reader.read { snapshot in
            group.start {
                try writer.write { try NumberedData.put(number, $0) }
                isCommitted.send()
            }
            // A store without concurrent readers may commit after the read.
            if reader.capabilities.hasConcurrentReaders {
                try expect(wait(for: isCommitted), "The write finished while the read was running.")
            } else {
                _ = isCommitted.wait(seconds: 0.1)
            }
            return try question.ask(snapshot)
        }
        try join(group)
        try expect(
            answer, is: before,
            "\(question.subject), asked first in a read that began before the other opening's commit")
        let after = try reader.read(question.ask)
        try expect(after != before, "The other opening's commit has changed \(question.subject).")
    }

    /// Makes a change in one opening. Expects that a read of the other, which begins before the commit, sees the state
    /// before the write.
    fileprivate func expectSnapshot(
        of reader: any SyncContextDataSource, beside writer: any SyncContextDataSource, _ change: DataChange,
        _ number: Int64
    ) throws {
        let before = try reader.read(StoreRule.samples)
        let (isChanged, mayCommit, isCommitted) = (Signal(), Signal(), Signal())
        let group = ThreadGroup()
        let patience = effort.patience
        func startWrite() {
            group.start {
                try writer.write { transaction in
                    try change.make(transaction, number)
                    isChanged.send()
                    _ = mayCommit.wait(seconds: patience)
                }
                isCommitted.send()
            }
        }
        defer { mayCommit.send() }
        let isConcurrent = reader.capabilities.hasConcurrentReaders
        if isConcurrent {
            startWrite()
            try expect(wait(for: isChanged), "The write of the other opening has started.")
        }
        try reader.read { snapshot in
            let subject = "of the other opening's change of \(change.kind)"
            try expect(try StoreRule.samples(snapshot), is: before, "a read before the commit \(subject)")
            if !isConcurrent { startWrite() }
            mayCommit.send()
            // A store without concurrent readers commits after the read.
            let hasReturned = isConcurrent ? wait(for: isCommitted) : isCommitted.wait(seconds: 0.1)
            try expect(hasReturned || !isConcurrent, "The write finished while the read was running.")
            try expect(
                try StoreRule.samples(snapshot), is: before, "the same read after the commit \(subject)")
        }
        try join(group)
        let after = try reader.read(StoreRule.samples)
        try expect(
            after, is: try writer.read(StoreRule.samples),
            "the next read after the other opening's change of \(change.kind)")
        try expect(after != before, "The next read sees the other opening's change of \(change.kind).")
    }
}
