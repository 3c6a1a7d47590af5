// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The tutorials' to-do list, in a terminal.
@main
struct Todo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo",
        abstract: "A to-do list that works offline and syncs when you say so.",
        discussion: """
            Changes are kept on this device until `todo sync` sends them to the server. IDs may be shortened to as \
            much as tells them apart. The options below may stand before or after the subcommand.

            Several commands can run at the same time, one in each terminal, unless --store is lmdb.

            Exit codes: 0 success, 1 failure, 2 conflicts are left pending, whatever else failed, 64 wrong usage.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "The list", subcommands: [Add.self, List.self, Edit.self, Done.self, Delete.self]),
            CommandGroup(
                name: "The server",
                subcommands: [Sync.self, Push.self, Pull.self, Status.self, Conflicts.self, Purge.self]),
            CommandGroup(name: "Trying it", subcommands: [Serve.self, Demo.self]),
        ])

    // Options before the subcommand are read here; the subcommand's own group takes these values over.
    @OptionGroup var options: GlobalOptions
}
