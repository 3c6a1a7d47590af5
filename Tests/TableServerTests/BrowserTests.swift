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
            of page: String, _ server: TableServer, as file: String,
            during body: @escaping @Sendable () async throws -> Void
        ) async throws {
            let browser = try #require(ProcessInfo.processInfo.environment["BROWSER"])
            let gate = RequestGate()
            // The page is in a frame beside an image, and the browser waits for the image. All have the same origin, because
            // browsers refuse a page of a file the access to this machine's network.
            let frame = """
                <style>body { margin: 0 } iframe { border: 0; width: 100vw; height: 100vh }</style>
                <iframe src="/\(page)"></iframe><img src="/image">
                """
            server.inject(
                .answer(status: 200, headers: ["Content-Type": "text/html"], body: Data(frame.utf8)),
                when: { $0.path == "/frame" })
            server.inject(.hold(gate), when: { $0.path == "/image" })
            let path = "\(server.url)/frame"
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    let result = try await Subprocess.run(
                        .name("env"),
                        arguments: [
                            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--hide-scrollbars", "--window-size=1000,420", "--screenshot=\(file)", path,
                        ], output: .discarded, error: .discarded)
                    #expect(result.terminationStatus == .exited(0))
                    return true
                }
                group.addTask {
                    await gate.waitForArrivals()
                    try await body()
                    gate.open()
                    return false
                }
                let browserEndedFirst = try await group.next()
                #expect(browserEndedFirst == false, "The browser ended before the page was complete.")
                if browserEndedFirst == true { group.cancelAll() }
                try await group.waitForAll()
            }
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
