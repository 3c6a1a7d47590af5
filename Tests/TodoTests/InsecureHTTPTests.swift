// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct InsecureHTTPTests {
    @Test func `the message about plain HTTP names the option that allows it`() async throws {
        let app = try TodoFixture.app(try #require(URL(string: "http://todo.invalid")))
        try await app.add("Buy eggs")
        let message = await expectFailure(
            of: app, containing: "todo.invalid", "https", "--insecure-http", "1 change is queued"
        ) { try await app.sync(onConflict: nil) }
        #expect(!message.contains("allowsInsecureHTTP"))
        await expectFailure(of: app, containing: "--insecure-http") { try await app.pullWithProgress() }
    }

    @Test func `another invalid configuration is not reported as plain HTTP`() async throws {
        try await TodoFixture.run { fixture in
            let context = SyncContext(
                client: SyncClient(url: fixture.server.url, installationID: "a\nb"),
                dataSource: try MemoryStore(tables: .models(TodoItem.self)))
            let app = TodoApp(context: context, console: Transcript().console(), storeName: "memory")
            let message = await expectFailure(of: app, containing: "header") {
                try await app.pullWithProgress()
            }
            #expect(!message.contains("HTTP to"))
        }
    }

    @Test func `the option allows plain HTTP, before and after the subcommand`() async throws {
        try await TodoProcess.withDirectory { todo in
            for arguments in [["--insecure-http", "pull"], ["pull", "--insecure-http"]] {
                let run = try await todo.run(arguments + ["--server", "http://todo.invalid"])
                #expect(run.status == 1)
                #expect(run.errors.contains("cannot be reached"), "\(run.errors)")
            }
        }
    }

    @Test(arguments: [
        "http://user:secret@todo.test", "http://todo.test?a=b", "http://todo.test#a",
        "http://127.0.0.1:65536",
    ])
    func `an address that a client does not accept is wrong usage`(address: String) {
        #expect(ServerURL(argument: address) == nil)
    }
}
