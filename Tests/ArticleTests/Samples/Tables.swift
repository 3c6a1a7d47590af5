// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import Testing

/// The samples of the article "Tables".
struct TablesSamples {
    enum Project {
        static let name = SyncColumn("name", .text)
        static let definition = SyncTableDefinition("Project", columns: [name])
    }

    enum TodoItem {
        static let text = SyncColumn("text", .text)
        static let complete = SyncColumn("complete", .bool, isIndexed: true)
        static let priority = SyncColumn("priority", .integer)
        static let due = SyncColumn("due", .date)
        static let photo = SyncColumn("photo", .data)
        static let tags = SyncColumn("tags", .json)
        static let projectID = SyncColumn("projectId", .text, isIndexed: true)
        static let isExpanded = SyncColumn("isExpanded", .bool, isLocalOnly: true)

        static let definition = SyncTableDefinition(
            "TodoItem",
            columns: [text, complete, priority, due, photo, tags, projectID, isExpanded],
            parents: ["Project"])
    }

    @Test func `values of every type`() async throws {
        let store = try MemoryStore(tables: [Project.definition, TodoItem.definition])
        let url = try #require(URL(string: "https://example.com"))
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        let (projects, todos) = (context.table("Project"), context.table("TodoItem"))
        let date = Date(timeIntervalSince1970: 0)

        let project = try await projects.insert(["name": "Garden"])
        let item = try await todos.insert([
            "text": "Plant a tree",
            "complete": false,
            "priority": 1,
            "due": .date(Timestamp(date)),
            "photo": nil,
            "tags": ["outside", ["season": "spring"]],
            "projectId": .text(project.id),
        ])

        let text = item[TodoItem.text]?.textValue
        let priority = item["priority"]?.intValue
        let due = item[TodoItem.due]?.dateValue?.date
        if case .array(let tags) = item[TodoItem.tags] {
            print(tags.compactMap(\.textValue))
        }

        #expect(text == "Plant a tree" && priority == 1 && due == date)

        let hasPhotoField = item[TodoItem.photo] != nil
        let isPhotoNull = item[TodoItem.photo]?.isNull == true
        let photo = item[TodoItem.photo]?.dataValue

        #expect(hasPhotoField && isPhotoNull && photo == nil)
        #expect(item[TodoItem.isExpanded] == nil)

        var copy = item
        copy[TodoItem.text] = "Plant two trees"
        copy[TodoItem.due] = .null
        copy[TodoItem.photo] = nil
        try await todos.replace(copy)
        try await todos.update(id: item.id, ["complete": true, "priority": nil])

        let stored = try #require(try await todos.item(id: item.id))
        #expect(stored["text"] == "Plant two trees" && stored["complete"] == true)
        #expect(stored.fields["due"] == .some(.null) && stored.fields["priority"] == .some(.null))
        #expect(!stored.fields.keys.contains("photo"))
        try await context.close()
    }
}
