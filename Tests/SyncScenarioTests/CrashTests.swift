// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// The process crashes between two steps, and the next process continues with the state of the store.
@Suite struct CrashTests {
    /// Crashes and restarts the device while its write is at the server, which applies the write or not.
    private func crash(
        _ device: Device, _ scenario: Scenario, applied: Bool,
        before edit: (Device) async throws -> Void = { _ in }
    ) async throws -> Device {
        let gate = RequestGate()
        if applied {
            scenario.server.inject(.hold(gate), when: \.isWrite)
        } else {
            scenario.server.inject(.hold(gate, then: .dropRequest), when: \.isWrite)
        }
        let context = device.context
        let push = Task { try await context.push() }
        await gate.waitForArrivals()
        try await edit(device)
        let restarted = try scenario.restart(device, settings: .singleAttempt)
        gate.open()
        _ = await push.result
        return restarted
    }

    /// Returns a device with one pending operation of that kind on the item `x`.
    private func prepare(_ kind: TableOperation.Kind, _ scenario: Scenario) async throws -> Device {
        let a = try scenario.crashableDevice()
        try await a.table.insert(["id": "x", "text": "one", "priority": 1])
        if kind != .insert { try await a.sync() }
        if kind == .update { try await a.table.update(id: "x", ["text": "two"]) }
        if kind == .delete { try await a.table.delete(id: "x") }
        return a
    }

    @Test(arguments: StoreKind.allCases, TableOperation.Kind.allCases)
    func `an operation is applied once when the device crashes before it receives the response`(
        _ kind: StoreKind, _ operation: TableOperation.Kind
    ) async throws {
        for applied in [true, false] {
            try await Scenario.run(on: kind) { scenario in
                let a = try await crash(try await prepare(operation, scenario), scenario, applied: applied)
                let pending = try #require(try await a.operations().first)
                #expect(pending.isAmbiguous)
                #expect(pending.sent?.kind == operation)
                try await a.sync()
                let revision = operation == .insert ? "MQ==" : "Mg=="
                #expect(try scenario.row("x")?.version == revision)
                #expect(try scenario.row("x")?.deleted == (operation == .delete))
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit made while the operation was in flight is sent after a crash`(
        _ kind: StoreKind
    ) async throws {
        for operation in [TableOperation.Kind.insert, .update] {
            for applied in [true, false] {
                try await Scenario.run(on: kind) { scenario in
                    let a = try await crash(
                        try await prepare(operation, scenario), scenario, applied: applied,
                        before: { try await $0.table.update(id: "x", ["text": "three", "price": 2.5]) })
                    #expect(try await a.operations().count == 2)
                    try await a.sync()
                    #expect(try scenario.row("x")?.fields["text"] == "three")
                    try await scenario.expectAgreement(a)
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item deleted after a crash is deleted on the server, whether or not its insert was applied`(
        _ kind: StoreKind
    ) async throws {
        for applied in [true, false] {
            try await Scenario.run(on: kind) { scenario in
                let a = try await crash(try await prepare(.insert, scenario), scenario, applied: applied)
                try await a.table.delete(id: "x")
                try await a.sync()
                #expect(try scenario.row("x")?.deleted != false)
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `every local write that returned survives a crash, with item and operation`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.crashableDevice()
            for number in 0..<20 { try await a.table.insert(["id": .text("\(number)"), "text": "one"]) }
            try await a.table.update(id: "3", ["text": "two"])
            try await a.table.delete(id: "4")
            let restarted = try scenario.restart(a)
            #expect(try await restarted.table.items().count == 19)
            #expect(try await restarted.operations().count == 19)
            #expect(try await restarted.item("3")?["text"] == "two")
            try await restarted.sync()
            try await scenario.expectAgreement(restarted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `operation ids always increase, also after the queue is empty and after a restart`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            var a = try scenario.crashableDevice()
            var last: Int64 = 0
            for number in 0..<4 {
                try await a.table.insert(["id": .text("\(number)"), "text": "one"])
                let id = try #require(try await a.operations().first?.id)
                #expect(id > last)
                last = id
                if number % 2 == 0 {
                    try await a.context.push()
                } else {
                    try await a.table.delete(id: "\(number)")
                }
                #expect(try await a.operations().isEmpty)
                a = try scenario.restart(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `operations are pushed in the order of the changes, also after a restart`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.crashableDevice()
            for id in ["m", "a", "z", "b"] { try await a.table.insert(["id": .text(id), "text": .text(id)]) }
            try await a.table.update(id: "m", ["text": "again"])
            let restarted = try scenario.restart(a)
            try await restarted.context.push()
            #expect(try scenario.server.rows(in: Todo.name).map(\.id) == ["m", "a", "z", "b"])
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an operation of an undeclared table stays queued and blocks no other operation`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let a = try scenario.crashableDevice(tables: [Todo.definition, other])
            try await a.context.table("Other").insert(["id": "o", "text": "?"])
            let narrow = try scenario.restart(a)
            try await narrow.table.insert(["id": "x", "text": "one"])
            _ = try? await narrow.context.push()
            #expect(try scenario.row("x") != nil)
            #expect(try await narrow.operations().map(\.table) == ["Other"])
            let wide = try scenario.restart(narrow, tables: [Todo.definition, other])
            try await wide.context.push()
            #expect(try scenario.server.row("o", in: "Other") != nil)
            #expect(try await wide.operations().isEmpty)
        }
    }
}
