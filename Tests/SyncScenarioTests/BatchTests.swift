// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Several local changes in one transaction.
@Suite struct BatchTests {
    private struct AppError: Error {}

    @Test(arguments: StoreKind.allCases)
    func `changes of a batch are queued in order and pushed`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "old", "text": "old"])
            try await a.sync()
            let count = try await a.context.batch { local in
                try local.insert(["id": "new", "text": "new"], in: Todo.name)
                try local.update(id: "new", ["text": "newer"], in: Todo.name)
                try local.update(id: "old", ["text": "changed"], in: Todo.name)
                try local.insert(["id": "removed"], in: Todo.name)
                try local.delete(id: "removed", in: Todo.name)
                #expect(try local.item(id: "new", in: Todo.name)?["text"] == "newer")
                return 5
            }
            #expect(count == 5)
            #expect(try await a.operations().map(\.itemID) == ["new", "old"])
            try await a.sync()
            #expect(try scenario.serverTexts() == ["changed", "newer"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a batch rethrows the error of its body and changes nothing`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            await #expect(throws: AppError.self) {
                try await a.context.batch { local in
                    try local.insert(["text": "x"], in: Todo.name)
                    throw AppError()
                }
            }
            await expectError(.itemNotFound) {
                try await a.context.batch { local in
                    try local.insert(["text": "x"], in: Todo.name)
                    try local.delete(id: "missing", in: Todo.name)
                }
            }
            #expect(try await a.table.items().isEmpty)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a batch that catches the error of an invalid change keeps its other changes`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.context.batch { local in
                try local.insert(["id": "a", "text": "a"], in: Todo.name)
                #expect(throws: SyncError.self) { try local.insert(["id": "a"], in: Todo.name) }
                #expect(throws: SyncError.self) { try local.insert(["price": .double(.nan)], in: Todo.name) }
                #expect(throws: SyncError.self) { try local.insert(["id": ""], in: Todo.name) }
                #expect(throws: SyncError.self) { try local.insert([:], in: "Nowhere") }
            }
            #expect(try await a.texts() == ["a"])
            #expect(try await a.operations().count == 1)
        }
    }
}
