// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The three ways out of a conflict.
enum ConflictChoice: String, ExpressibleByArgument, CaseIterable {
    /// The client's value goes to the server.
    case client
    /// The server's value comes to the client.
    case server
    /// Neither: the change stays pending.
    case cancel

    /// The words of the tutorial's buttons.
    var label: String {
        switch self {
        case .client: "Use client"
        case .server: "Use server"
        case .cancel: "Cancel"
        }
    }

    /// Understands an answer to ``question``: the word, or its letter.
    init?(answer: String) {
        switch answer.lowercased() {
        case "c", "client", "use client": self = .client
        case "s", "server", "use server": self = .server
        case "x", "cancel": self = .cancel
        default: return nil
        }
    }

    static let question = "[c] Use client  [s] Use server  [x] Cancel: "
}

/// What to do about conflicts without asking.
struct ConflictOptions: ParsableArguments {
    @Option(
        name: .customLong("on-conflict"),
        help: "Use client, server or cancel for every conflict, without asking.")
    var choice: ConflictChoice?

    static let explanation = """
        When an item was changed on the server too, both values are shown and you are asked which to use. Without a \
        terminal to ask on, conflicts are left pending, unless --on-conflict says what to do.
        """
}
