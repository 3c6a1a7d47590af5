// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// How to resolve a conflict.
enum ConflictChoice: String, ExpressibleByArgument, CaseIterable {
    /// Send the client's value to the server.
    case client
    /// Apply the server's value on the client.
    case server
    /// Leave the change pending.
    case cancel

    /// The title, as on the tutorial's buttons.
    var label: String {
        switch self {
        case .client: "Use client"
        case .server: "Use server"
        case .cancel: "Cancel"
        }
    }

    /// Parses a word or its letter.
    init?(answer: String) {
        switch answer.lowercased() {
        case "c", "client", "use client": self = .client
        case "s", "server", "use server": self = .server
        case "x", "cancel": self = .cancel
        default: return nil
        }
    }
}

/// The user's answer about a conflict.
struct ConflictAnswer {
    let choice: ConflictChoice
    /// Whether the answer also applies to the remaining conflicts.
    var appliesToAll = false
}

extension ConflictAnswer {
    private static let suffix = " all"

    /// Parses an answer to ``question(_:of:)``: a choice, followed by "all" to apply it to all remaining conflicts.
    init?(_ answer: String) {
        let appliesToAll = answer.lowercased().hasSuffix(Self.suffix)
        let word = appliesToAll ? String(answer.dropLast(Self.suffix.count)) : answer
        guard let choice = ConflictChoice(answer: word) else { return nil }
        self.init(choice: choice, appliesToAll: appliesToAll)
    }

    /// Returns the prompt for a conflict. If more conflicts follow, it explains how to answer for all.
    static func question(_ number: Int, of count: Int) -> String {
        let position = count == 1 ? "" : "\(number) of \(count) · "
        let allHint = number == count ? "" : " · add \" all\" to apply it to all that are left"
        return "\(position)[c] Use client  [s] Use server  [x] Cancel\(allHint): "
    }
}

/// The option to resolve conflicts without a prompt.
struct ConflictOptions: ParsableArguments {
    @Option(
        name: .customLong("on-conflict"),
        help: "Resolve every conflict with client, server or cancel, without a prompt.")
    var choice: ConflictChoice?

    static let explanation = """
        When an item was also changed on the server, both values are shown and you choose one. Without a terminal, \
        conflicts are left pending unless --on-conflict is given.
        """
}
