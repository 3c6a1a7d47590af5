// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

@testable import todo

@Suite struct SecondTerminalTests {
    @Test func `a second terminal reads and adds items during a sync`() async throws {
        try await TodoFixture.run { fixture in
            try await TodoProcess.withDirectory { todo in
                #expect(try await todo.run("add", "Buy eggs").status == 0)
                let requests = Counter()
                let (begins, ends) = (TestSignal(), TestSignal())
                fixture.server.onRequest { request in
                    guard request.method == "POST", requests.next() == 1 else { return .none }
                    begins.send()
                    try? await ends.wait()
                    return .none
                }
                let server = "\(fixture.server.url)"
                async let sync = {
                    defer { begins.finish() }
                    return try await todo.run("sync", "--server", server)
                }()
                try await begins.wait()
                // Not in the request, which the client repeats after a time without response.
                var results: [TodoProcess.Run] = []
                for arguments in [["add", "Buy milk"], ["status"], ["list"]] {
                    results.append(try await todo.run(arguments))
                }
                ends.send()
                let run = try await sync
                #expect(run.status == 0, "\(run.errors)")
                #expect(results.map(\.status) == [0, 0, 0], "\(results.map(\.errors))")
                #expect(results.last?.output.contains("Buy milk") == true)
                #expect(try await todo.run("sync", "--server", server).status == 0)
                #expect(try fixture.texts() == ["Buy eggs", "Buy milk"])
            }
        }
    }

    @Test func `an LMDB store in use by another command is an error that says what to do`() async throws {
        try await TodoProcess.withDirectory { todo in
            #expect(try await todo.run("add", "Buy eggs", "--store", "lmdb").status == 0)
            let store = try StoreChoice.lmdb.open(in: todo.directory)
            let run = try await todo.run("status", "--store", "lmdb")
            try store.close()
            #expect(run.status == 1)
            for part in ["todo.lmdb", "another program", "Wait", "--store sqlite"] {
                #expect(run.errors.contains(part), "\(run.errors)")
            }
        }
    }
}
