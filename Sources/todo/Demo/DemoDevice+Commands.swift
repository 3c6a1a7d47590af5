// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

extension DemoDevice {
    func add(_ text: String) async throws {
        try await type("add \"\(text)\"") { try await $0.add(text) }
    }

    func list() async throws {
        try await type("list") { try await $0.list(TodoItem.all.order(by: \.text).raw) }
    }

    func edit(_ text: String, to newText: String) async throws {
        let id = try await id(of: text)
        try await type("edit \(id.short) \"\(newText)\"") { try await $0.edit(id.full, text: newText) }
    }

    func complete(_ text: String) async throws {
        let id = try await id(of: text)
        try await type("done \(id.short)") { try await $0.setComplete(id.full, true) }
    }

    func delete(_ text: String) async throws {
        let id = try await id(of: text)
        try await type("delete \(id.short)") { try await $0.delete(id.full) }
    }

    func sync(onConflict choice: ConflictChoice? = nil) async throws {
        let option = choice.map { " --on-conflict \($0.rawValue)" } ?? ""
        try await type("sync\(option)") { try await $0.sync(onConflict: choice) }
    }
}
