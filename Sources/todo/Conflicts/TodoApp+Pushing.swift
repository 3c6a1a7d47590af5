// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// What is left after a push and all answers to its conflicts.
struct PushOutcome {
    /// How many conflicts are left pending.
    var conflicts = 0
    /// What was not completed for other reasons.
    var failures: [TableOperationError] = []

    /// Whether the server has taken everything.
    var isClean: Bool { conflicts == 0 && failures.isEmpty }
}

extension TodoApp {
    /// How often an automatic choice is repeated while the server keeps changing the same rows.
    private static let maxAutomaticRounds = 10

    /// Pushes, asks about each conflict, and pushes again with the answers, until the server accepts them all or
    /// those that remain are to be left pending.
    ///
    /// - Parameter choice: the answer to every conflict; `nil` asks the user, or cancels when nobody is there.
    func pushAsking(onConflict choice: ConflictChoice?) async throws -> PushOutcome {
        var left: Set<Int64> = []
        var completed = 0
        var rounds = 0
        while true {
            let result = try await pushOnce()
            completed += result.completed
            let open = try await context.operationErrors().filter {
                $0.isConflict && !left.contains($0.operationID)
            }
            rounds += 1
            let mayAsk = choice == nil || rounds <= Self.maxAutomaticRounds
            let settled = mayAsk ? try await settle(open, by: choice, left: &left) : false
            guard settled else {
                let outcome = try await outcome(of: result)
                if completed > 0 || (rounds == 1 && outcome.isClean) { tellSent(completed) }
                return outcome
            }
        }
    }

    /// Pushes once. Operations that fail are in the result.
    private func pushOnce() async throws -> PushResult {
        do {
            return try await showingProgress { try await context.push() }
        } catch let error as SyncError where error.code == .pushCompletedWithErrors {
            guard let result = error.pushResult else { throw error }
            if result.errors.allSatisfy({ $0.code == .tableNotOnServer }) {
                throw Failure(missingTable + (await pendingSummary()))
            }
            console.print("\(error.message) (code \(error.code.rawValue))")
            return result
        }
    }

    /// Shows the conflicts and carries out the answers; tells whether any was settled.
    private func settle(
        _ conflicts: [TableOperationError], by choice: ConflictChoice?, left: inout Set<Int64>
    ) async throws -> Bool {
        let ids = ShortIDs(try await table.items().map(\.id) + conflicts.map(\.itemID))
        var isAnySettled = false
        var forAll = choice
        for (index, conflict) in conflicts.enumerated() {
            console.print()
            show(conflict, id: ids.short(conflict.itemID))
            let answer = forAll.map { ConflictAnswer(choice: $0) } ?? ask(index + 1, of: conflicts.count)
            if choice != nil {
                console.print("\(answer.choice.label), as --on-conflict says.")
            } else if forAll != nil {
                console.print("\(answer.choice.label), as for all.")
            }
            if answer.isForAll { forAll = answer.choice }
            try await settle(conflict, by: answer.choice)
            if answer.choice == .cancel { left.insert(conflict.operationID) } else { isAnySettled = true }
        }
        if !conflicts.isEmpty { console.print() }
        return isAnySettled
    }

    private func ask(_ number: Int, of count: Int) -> ConflictAnswer {
        guard console.isInteractive else {
            console.print("Cancel: there is no terminal to ask on.")
            return ConflictAnswer(choice: .cancel)
        }
        let question = ConflictAnswer.question(number, of: count)
        return console.ask(question, ConflictAnswer.init) ?? ConflictAnswer(choice: .cancel)
    }

    private func tellSent(_ count: Int) {
        console.print(
            count == 0
                ? "Pushed: nothing to send." : count == 1 ? "Pushed 1 change." : "Pushed \(count) changes.")
    }

    private func outcome(of result: PushResult) async throws -> PushOutcome {
        let conflicts = try await context.operationErrors().filter(\.isConflict).count
        return PushOutcome(conflicts: conflicts, failures: result.errors.filter { !$0.isConflict })
    }
}
