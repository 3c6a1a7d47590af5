// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Synchronization

/// A server in memory with prepared responses: it returns one page or row after another, whatever the request.
final class CannedPages: HTTPTransport {
    /// The URL of a server in memory.
    static let url = URLComponents(string: "http://localhost")?.url ?? URL(filePath: "/")

    private let pages: [Data]
    private let status: HTTPResponse.Status
    private let served = Mutex(0)

    init(_ pages: [Data], status: HTTPResponse.Status = .ok) {
        self.pages = pages
        self.status = status
    }

    var requestCount: Int { served.withLock { $0 } }

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let index = served.withLock { served in
            served += 1
            return served - 1
        }
        return HTTPTransportResponse(
            status: status, headerFields: [.contentType: "application/json"],
            body: index < pages.count ? pages[index] : Data("[]".utf8))
    }

    /// Returns pages of rows as a server sends them, in the order of an incremental pull: `updatedAt` grows by a
    /// millisecond from row to row.
    static func pages(of todos: [TodoRow], size: Int, startingAt first: Int = 0) -> [Data] {
        stride(from: 0, to: todos.count, by: size).map { start in
            let rows = todos[start..<min(start + size, todos.count)].enumerated().map { index, todo in
                ServerRow(todo, number: first + start + index).value
            }
            return ItemValue.array(rows).json
        }
    }
}

/// A row as a server sends it.
struct ServerRow {
    let todo: TodoRow
    let number: Int

    init(_ todo: TodoRow, number: Int) {
        self.todo = todo
        self.number = number
    }

    var value: ItemValue {
        let time = Timestamp.unixEpoch.advanced(by: .seconds(1_700_000_000) + .milliseconds(number))
        var object = todo.fields
        object["id"] = .text(todo.id)
        object["createdAt"] = .date(time)
        object["updatedAt"] = .date(time)
        object["version"] = .text("AAAAAAAAB\(100_000 + number % 900_000)=")
        object["deleted"] = false
        return .object(object)
    }
}
