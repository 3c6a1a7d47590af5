// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import todo

/// What a test's user has seen, and what he is going to answer.
final class Transcript: Sendable {
    private let state: Mutex<State>

    private struct State {
        var text = ""
        var answers: [String]
    }

    /// - Parameter answers: what is typed at each question; afterwards the input ends.
    init(answers: [String] = []) {
        state = Mutex(State(answers: answers))
    }

    var text: String { state.withLock { $0.text } }

    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// How many answers were not asked for.
    var unusedAnswers: Int { state.withLock { $0.answers.count } }

    /// A console that writes and reads here.
    func console(isInteractive: Bool = true) -> Console {
        var console = Console { text in self.state.withLock { $0.text += text } }
        console.isInteractive = isInteractive
        console.readLine = {
            self.state.withLock { state in
                guard !state.answers.isEmpty else { return nil }
                return state.answers.removeFirst()
            }
        }
        return console
    }
}
