// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A to-do list in a terminal.
@main
struct Todo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo",
        abstract: "A to-do list that works offline and syncs on demand.",
        discussion: """
            Changes are queued on this device until `todo sync` sends them to the server. The beginning of an id is \
            enough if no other id has it. The options below can be before or after the subcommand.

            Several commands can run at the same time, except with --store lmdb.

            Exit codes: 0 success; 1 failure; 2 conflicts are left pending, also with other failures; 64 wrong usage.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "The list",
                subcommands: [Add.self, List.self, Edit.self, Done.self, Delete.self, Watch.self]),
            CommandGroup(
                name: "The server",
                subcommands: [Sync.self, Push.self, Pull.self, Status.self, Conflicts.self, Purge.self]),
            CommandGroup(name: "Testing", subcommands: [Serve.self, Demo.self]),
        ])

    // Parses options before the subcommand; the subcommand's option group inherits the values.
    @OptionGroup var options: GlobalOptions
}
