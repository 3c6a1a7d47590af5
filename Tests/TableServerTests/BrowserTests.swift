// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import Subprocess
    import SyncCore
    import TableServer
    import Testing

    /// The pages in a real browser: `Scripts/test-browser` installs Chromium and sets `BROWSER`.
    @Suite(.enabled(if: ProcessInfo.processInfo.environment["BROWSER"] != nil))
    struct BrowserTests {
        /// Takes a picture of a page in the browser as soon as the body returns; until then, the page lives.
        private func picture(
            of page: String, _ server: TableServer, as file: String, during body: () async throws -> Void
        ) async throws {
            let browser = try #require(ProcessInfo.processInfo.environment["BROWSER"])
            let (gate, directory) = (RequestGate(), FileManager.default.temporaryDirectory)
            // The page is in a frame beside an image, and the browser waits for the image.
            let frame = directory.appending(path: "frame-\(UUID().uuidString).html")
            try Data(
                """
                <style>body { margin: 0 } iframe { border: 0; width: 100vw; height: 100vh }</style>
                <iframe src="\(server.url)/\(page)"></iframe><img src="\(server.url)/image">
                """.utf8
            ).write(to: frame)
            defer { try? FileManager.default.removeItem(at: frame) }
            server.inject(.hold(gate), when: { $0.path == "/image" })
            async let result = Subprocess.run(
                .name(browser),
                arguments: [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--hide-scrollbars", "--window-size=1000,420", "--screenshot=\(file)",
                    frame.absoluteString,
                ], output: .discarded, error: .discarded)
            await gate.waitForArrivals()
            try await body()
            gate.open()
            #expect(try await result.terminationStatus == .exited(0))
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            #expect(size ?? 0 > 5000, "The picture is empty.")
        }

        private func insert(_ rows: [(String, String)], _ client: TestClient) async throws {
            for (id, text) in rows {
                let row: ItemValue = ["id": .text(id), "text": .text(text), "complete": false]
                try await #expect(client.insert(row).status == 201)
            }
        }

        @Test func `rows appear on an open page when a client pushes them`() async throws {
            let directory = ProcessInfo.processInfo.environment["SCREENSHOTS"] ?? NSTemporaryDirectory()
            try await withServer({ $0.showsPage = true }) { server, client in
                let isPage: @Sendable (RecordedRequest) -> Bool = { $0.path == "/page/TodoItem" }
                let (second, fourth) = (RequestGate(), RequestGate())
                server.inject(.none, .hold(second), .none, .hold(fourth), when: isPage)
                try await insert([("a", "Buy milk"), ("b", "Call Ann")], client)
                try await picture(of: "page/TodoItem", server, as: "\(directory)/server-rows.png") {
                    // The page has loaded, and reloads by itself.
                    await second.waitForArrivals()
                    try await insert([("c", "Water the plants")], client)
                    try await #expect(client.patch("a", ["complete": true]).status == 200)
                    try await #expect(client.delete("b").status == 200)
                    second.open()
                    // The browser has shown the third one.
                    await fourth.waitForArrivals()
                    fourth.open()
                }
                #expect(server.requests.count(where: isPage) >= 4)
                try await picture(of: "", server, as: "\(directory)/server-tables.png") {}
            }
        }
    }
#endif
