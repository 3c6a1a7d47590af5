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

    /// Understands the word, or its letter.
    init?(answer: String) {
        switch answer.lowercased() {
        case "c", "client", "use client": self = .client
        case "s", "server", "use server": self = .server
        case "x", "cancel": self = .cancel
        default: return nil
        }
    }
}

/// What the user answers to a conflict.
struct ConflictAnswer {
    let choice: ConflictChoice
    /// Whether the conflicts that have not been asked about yet get the same answer.
    var isForAll = false
}

extension ConflictAnswer {
    private static let suffix = " all"

    /// Understands an answer to ``question(_:of:)``: a choice, with "all" behind it for all conflicts that are left.
    init?(_ answer: String) {
        let isForAll = answer.lowercased().hasSuffix(Self.suffix)
        let word = isForAll ? String(answer.dropLast(Self.suffix.count)) : answer
        guard let choice = ConflictChoice(answer: word) else { return nil }
        self.init(choice: choice, isForAll: isForAll)
    }

    /// The prompt of one of several conflicts. Only when more follow does it tell how to answer for all.
    static func question(_ number: Int, of count: Int) -> String {
        let position = count == 1 ? "" : "\(number) of \(count) · "
        let forAll = number == count ? "" : " · add \" all\" to use it for all that are left"
        return "\(position)[c] Use client  [s] Use server  [x] Cancel\(forAll): "
    }
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
