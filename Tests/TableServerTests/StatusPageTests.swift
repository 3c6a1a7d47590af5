// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// The pages for a browser.
@Suite(.onEachStorage)
struct StatusPageTests {
    @Test func `the first page shows the tables and the latest requests`() async throws {
        try await withServer({
            $0.showsPage = true; $0.recordsRequests = false
        }) { server, client in
            for n in 0..<3 { try await server.put("\(n)", [:], in: "TodoItem") }
            try await server.remove("0", in: "TodoItem")
            for n in 0..<60 { _ = try await client.get("/tables/Other/row\(n)") }
            _ = try await client.send("GET", "/", apiVersion: nil)
            let page = try await client.send("GET", "/", apiVersion: nil)
            #expect(page.status == 200)
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(
                page.text.contains("<td><a href=\"/page/TodoItem\">TodoItem</a></td><td>2</td><td>1</td>"))
            #expect(page.text.contains("<td>GET</td><td>/tables/Other/row59</td><td>404</td>"))
            #expect(!page.text.contains("row1<"))
            #expect(!page.text.contains("<td>/</td>"))
            #expect(!page.text.contains("<script"))
        }
    }

    @Test func `the page of a table shows its rows, and nothing in them is markup`() async throws {
        // The last two are each one character, with a mark before or after it.
        let attack = "<script>alert('1')</script>&\"\u{600}<script>\"\u{301}"
        try await withServer({ $0.showsPage = true }) { server, client in
            try await server.put(attack, ["text": .text(attack)], in: "TodoItem")
            try await server.put("b", [:], in: "TodoItem")
            try await server.remove("b", in: "TodoItem")
            _ = try await client.get("/tables/TodoItem?x=%3Cscript%3E")
            for path in ["/page/TodoItem", "/page/todoitem", "/"] {
                let page = try await client.send("GET", path, apiVersion: nil)
                #expect(page.status == 200)
                #expect(page.body.range(of: Data("<script".utf8)) == nil)
            }
            let text = try await client.send("GET", "/page/TodoItem", apiVersion: nil).text
            #expect(text.contains("&lt;script&gt;"))
            #expect(
                text.unicodeScalars.contains("\u{301}")
                    && !text.unicodeScalars.split(separator: "\u{301}").contains { $0.last == "\"" })
            #expect(text.contains("<td>Mg==</td><td>deleted</td>"))
        }
    }

    @Test func `there are no pages unless they are turned on`() async throws {
        try await withServer { _, client in
            for path in ["/", "/page/TodoItem"] {
                try await #expect(client.send("GET", path, apiVersion: nil).status == 404)
            }
        }
    }

    @Test(arguments: ["example.com", "127.0.0.1.example.com", "localhostx", "127.0.0.1:80x", ""])
    func `a request for another host gets no page`(_ host: String) async throws {
        try await withServer({ $0.showsPage = true }) { server, _ in
            let connection = try RawConnection(port: try #require(server.url.port))
            try connection.send("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            let response = await connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 40"))
        }
    }

    @Test(arguments: ["X-Forwarded-For", "forwarded", "Via", "X-Real-IP"])
    func `a request that a proxy has forwarded gets no page`(_ header: String) async throws {
        try await withServer({ $0.showsPage = true }) { _, client in
            let headers = [header: "1.1 proxy"]
            try await #expect(client.send("GET", "/", headers: headers, apiVersion: nil).status == 404)
        }
    }

    @Test func `a server for other machines shows no pages`() async throws {
        let error = await #expect(throws: TableServerError.self) {
            try await withServer({
                $0.showsPage = true; $0.host = "0.0.0.0"
            }) { _, _ in }
        }
        #expect(error?.code == .configuration)
    }
}
