// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Subprocess
import SyncModels
import TableServer
import TestSupport
import Testing

@testable import todo

@Suite struct CommandLineTests {
    @Test(arguments: [StoreChoice.sqlite, .lmdb])
    func `items added offline survive the process, and a sync sends each of them once`(_ store: StoreChoice)
        async throws
    {
        try await TodoFixture.run { fixture in
            try await TodoProcess.withDirectory { todo in
                for text in ["Buy eggs", "Buy milk"] {
                    let run = try await todo.run(
                        "--store", store.rawValue, "--server", "http://127.0.0.1:9", "add", text)
                    #expect(run.status == 0, "\(run.errors)")
                }
                let offline = try await todo.run(
                    "sync", "--store", store.rawValue, "--server", "http://127.0.0.1:9")
                #expect(offline.status == 1)
                #expect(offline.errors.contains("2 changes are queued"))
                #expect(try fixture.texts() == [])

                let list = try await todo.run("list", "--store", store.rawValue)
                #expect(list.output.contains("Buy eggs") && list.output.contains("Buy milk"))
                let sync = try await todo.run(
                    "sync", "--store", store.rawValue, "--server", "\(fixture.server.url)")
                #expect(sync.status == 0, "\(sync.errors)")
                #expect(sync.output.contains("Pushed 2 changes."))
                #expect(try fixture.server.rows(in: "TodoItem").count == 2)
                #expect(try fixture.texts() == ["Buy eggs", "Buy milk"])
            }
        }
    }

    @Test func `a conflict without a terminal exits with status 2, and its resolution with 0`() async throws {
        try await TodoFixture.run { fixture in
            try await TodoProcess.withDirectory { todo in
                let server = "\(fixture.server.url)"
                try await fixture.put("eggs", "Buy eggs")
                #expect(try await todo.run("pull", "--server", server).status == 0)
                #expect(try await todo.run("edit", "eggs", "Buy eggs (6)").status == 0)
                try await fixture.put("eggs", "Buy organic eggs")
                let sync = try await todo.run("sync", "--server", server)
                #expect(sync.status == 2)
                #expect(sync.output.contains("Buy eggs (6)") && sync.output.contains("Buy organic eggs"))
                #expect(!sync.output.contains("\u{1B}"))
                #expect(try await todo.run("conflicts").output.contains("-1303"))
                #expect(try await todo.run("conflicts", "resolve", "eg", "--use", "client").status == 0)
                #expect(try await todo.run("push", "--server", server).status == 0)
                #expect(try fixture.texts() == ["Buy eggs (6)"])
            }
        }
    }

    @Test(arguments: [
        ["add"], ["add", " "], ["list", "--limit", "-1"], ["sync", "--on-conflict", "both"], ["nosuch"],
        ["--server", "nowhere", "list"], ["--store", "paper", "list"], ["purge", "--discard", "--refuse"],
    ])
    func `wrong usage exits with status 64`(arguments: [String]) {
        do {
            _ = try Todo.parseAsRoot(arguments)
            Issue.record("\(arguments) was accepted")
        } catch {
            #expect(Todo.exitCode(for: error).rawValue == 64)
        }
    }

    @Test func `options are accepted before and after the subcommand`() throws {
        let before = try #require(try Todo.parseAsRoot(["--store", "lmdb", "add", "Buy eggs"]) as? Add)
        let after = try #require(try Todo.parseAsRoot(["add", "Buy eggs", "--store", "lmdb"]) as? Add)
        #expect(before.options.store == .lmdb && after.options.store == .lmdb)
        #expect(before.text == "Buy eggs" && after.text == "Buy eggs")
    }

    @Test func `only the owner can read the data directory`() async throws {
        try await TodoProcess.withDirectory { todo in
            #expect(try await todo.run("add", "Buy eggs").status == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: todo.directory.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        }
    }

    @Test func `a store that cannot be opened is reported with its path`() async throws {
        try await TodoProcess.withDirectory { todo in
            try Data("not a directory".utf8).write(to: todo.directory)
            let run = try await todo.run("list")
            #expect(run.status == 1)
            #expect(run.errors.contains("cannot be created"))
        }
        try await TodoProcess.withDirectory { todo in
            #expect(try await todo.run("add", "Buy eggs").status == 0)
            let file = todo.directory.appendingPathComponent("todo.sqlite")
            try Data("This text is not a SQLite database, in any version.".utf8).write(to: file)
            let run = try await todo.run("list")
            #expect(run.status == 1)
            #expect(
                run.errors.contains(file.path) && run.errors.contains("not an SQLite database"),
                "\(run.errors)")
        }
    }

    @Test func `the server refuses the file of a list, whose changes stay queued`() async throws {
        try await TodoProcess.withDirectory { todo in
            #expect(try await todo.run("add", "Buy eggs").status == 0)
            let file = todo.directory.appending(path: "todo.sqlite").path
            let served = try await todo.run("serve", "--port", "0", "--file", file)
            #expect(served.status == 1)
            #expect(served.errors.contains("was not created by the server"), "\(served.errors)")
            #expect(try await todo.run("list").output.contains("Buy eggs\n1 item, 1 change is queued"))
        }
    }

    #if os(Linux)
        @Test func `output that cannot be written is a failure`() async throws {
            try await TodoProcess.withDirectory { todo in
                let program = try builtProgram("todo").path
                let result = try await Subprocess.run(
                    .name("sh"),
                    arguments: [
                        "-c", "\"$0\" --data \"$1\" list >/dev/full", program, todo.directory.path,
                    ], output: .discarded, error: .string(limit: 1 << 20))
                #expect(result.terminationStatus == .exited(1))
                #expect(result.standardError.contains("cannot be written"), "\(result.standardError)")
            }
        }
    #endif

    @Test(arguments: [["add"], ["edit", "eggs"]])
    func `a text that was not UTF-8 is wrong usage, and one with a dash can be written`(
        command: [String]
    ) throws {
        #expect(throws: (any Error).self) { try Todo.parseAsRoot(command + ["caf\u{FFFD}"]) }
        #expect(throws: Never.self) { try Todo.parseAsRoot(command + ["--", "-5 degrees"]) }
    }

    @Test func `whitespace around the stored id of the installation is ignored`() async throws {
        try await TodoFixture.run { fixture in
            try await TodoProcess.withDirectory { todo in
                #expect(try await todo.run("add", "Buy eggs").status == 0)
                try Data("abc\n".utf8).write(to: todo.directory.appending(path: "installation"))
                let run = try await todo.run("--server", "\(fixture.server.url)", "sync")
                #expect(run.status == 0, "\(run.errors)")
                #expect(try fixture.texts() == ["Buy eggs"])
            }
        }
    }

    @Test func `the memory store warns that it loses the items`() async throws {
        try await TodoProcess.withDirectory { todo in
            let added = try await todo.run("--store", "memory", "add", "Buy eggs")
            #expect(added.errors.contains("loses all items"))
            let list = try await todo.run("--store", "memory", "list")
            #expect(list.output == "0 items\n")
        }
    }

    @Test(arguments: StoreChoice.allCases)
    func `the demonstration ends with the same rows with every store`(_ store: StoreChoice) async throws {
        try await TodoProcess.withDirectory { todo in
            let run = try await todo.run("demo", "--store", store.rawValue)
            #expect(run.status == 0, "\(run.errors)")
            let end = run.output.split(separator: "\n").suffix(4).joined(separator: "\n")
            #expect(
                end == """
                    A       [ ] Hello world 13   [x] Buy eggs (6)
                    B       [ ] Hello world 13   [x] Buy eggs (6)
                    Server  [ ] Hello world 13   [x] Buy eggs (6)
                    All rows are equal.
                    """)
        }
    }
}
