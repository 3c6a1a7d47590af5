// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

/// The changes that are not completed after a push and the resolution of its conflicts.
struct PushOutcome {
    /// The number of conflicts that are left pending.
    var conflicts = 0
    /// The changes that failed for other reasons.
    var failures: [TableOperationError] = []

    /// Whether all changes are completed.
    var isComplete: Bool { conflicts == 0 && failures.isEmpty }
}

extension TodoApp {
    /// The maximum number of pushes with an automatic choice, while other clients change the same rows.
    private static let maxAutomaticPushes = 10

    /// Pushes, resolves each conflict, and pushes again, until no conflict is left or all remaining ones are left
    /// pending.
    ///
    /// - Parameter choice: The choice for every conflict; `nil` asks the user, or cancels without a terminal.
    func pushResolvingConflicts(onConflict choice: ConflictChoice?) async throws -> PushOutcome {
        var leftPending: Set<Int64> = []
        var completed = 0
        var pushes = 0
        while true {
            let result = try await pushOnce()
            completed += result.completed
            let conflicts = try await context.operationErrors().filter {
                $0.isConflict && !leftPending.contains($0.operationID)
            }
            pushes += 1
            let mayResolve = choice == nil || pushes <= Self.maxAutomaticPushes
            let mustPushAgain =
                mayResolve ? try await resolve(conflicts, by: choice, leftPending: &leftPending) : false
            guard mustPushAgain else {
                let outcome = try await outcome(of: result)
                if completed > 0 || (pushes == 1 && outcome.isComplete) { printCompleted(completed) }
                return outcome
            }
        }
    }

    /// Pushes once. The result includes operations that failed.
    private func pushOnce() async throws -> PushResult {
        do {
            return try await showingProgress { try await context.push() }
        } catch let error as SyncError where error.code == .pushCompletedWithErrors {
            guard let result = error.pushResult else { throw error }
            if result.errors.allSatisfy({ $0.code == .tableNotOnServer }) {
                throw Failure(missingTableMessage + (await pendingSummary()))
            }
            console.print("Not all changes were sent. (code \(error.code.rawValue))")
            return result
        }
    }

    /// Shows the conflicts and resolves them as the user chooses. Returns whether any is resolved.
    private func resolve(
        _ conflicts: [TableOperationError], by choice: ConflictChoice?, leftPending: inout Set<Int64>
    ) async throws -> Bool {
        let ids = ShortIDs(try await table.fetch().map(\.id.text) + conflicts.map(\.itemID))
        var isAnyResolved = false
        var choiceForAll = choice
        for (index, conflict) in conflicts.enumerated() {
            console.print()
            show(conflict, id: ids.short(conflict.itemID))
            let answer =
                choiceForAll.map { ConflictAnswer(choice: $0) } ?? ask(index + 1, of: conflicts.count)
            if choice != nil {
                console.print("\(answer.choice.label) (--on-conflict).")
            } else if choiceForAll != nil {
                console.print("\(answer.choice.label) (for all).")
            }
            if answer.appliesToAll { choiceForAll = answer.choice }
            try await resolve(conflict, by: answer.choice)
            if answer.choice == .cancel {
                leftPending.insert(conflict.operationID)
            } else {
                isAnyResolved = true
            }
        }
        if !conflicts.isEmpty { console.print() }
        return isAnyResolved
    }

    private func ask(_ number: Int, of count: Int) -> ConflictAnswer {
        guard console.isInteractive else {
            console.print("Cancel (no terminal to ask on).")
            return ConflictAnswer(choice: .cancel)
        }
        let question = ConflictAnswer.question(number, of: count)
        return console.ask(question, ConflictAnswer.init) ?? ConflictAnswer(choice: .cancel)
    }

    private func printCompleted(_ count: Int) {
        console.print(
            count == 0
                ? "Pushed: nothing to send." : count == 1 ? "Pushed 1 change." : "Pushed \(count) changes.")
    }

    private func outcome(of result: PushResult) async throws -> PushOutcome {
        let conflicts = try await context.operationErrors().filter(\.isConflict).count
        return PushOutcome(conflicts: conflicts, failures: result.errors.filter { !$0.isConflict })
    }
}
