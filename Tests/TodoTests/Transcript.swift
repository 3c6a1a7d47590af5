// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import todo

/// The console of a test: the text that the app has printed, and the user's next answers.
final class Transcript: Sendable {
    private let state: Mutex<State>

    private struct State {
        var text = ""
        var answers: [String]
    }

    /// - Parameter answers: The user's answer to each question; then the input ends.
    init(answers: [String] = []) {
        state = Mutex(State(answers: answers))
    }

    var text: String { state.withLock { $0.text } }

    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The number of answers that are not used yet.
    var unusedAnswers: Int { state.withLock { $0.answers.count } }

    /// Returns a console that prints to this transcript and reads its answers.
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
