// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Logging
import NIOCore

/// The minimum of a table server: Hummingbird, and the statements that a request needs, without checks.
struct BareServer {
    let port: Int
    private let running: Task<Void, any Error>
    private let rows: any BareRows

    static func start(_ rows: any BareRows) async throws -> BareServer {
        let router = Router()
        router.get("tables/:table") { request, _ in
            // The only parameter that differs between the requests.
            let filter = request.uri.queryParameters["$filter"]
            let since = filter?.split(separator: "'").dropFirst().first.map { $0.dropLast() + "000000" }
            let page = try await rows.page(since: since.map { String($0) })
            let isCounted = request.uri.queryParameters["$inlinecount"] != nil
            return response(page, isList: true, count: isCounted ? try await rows.count() : nil)
        }
        router.get("tables/:table/:id") { _, context in
            response(try await rows.row(context.parameters.require("id")), isList: false)
        }
        router.patch("tables/:table/:id") { request, context in
            let body = try await request.body.collect(upTo: 102_400)
            let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            let row = try await rows.update(
                context.parameters.require("id"), fields: String(buffer: body),
                at: time.dropLast() + "000000")
            return response(row, isList: false)
        }
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "bare") { _ in SwiftLogNoOpLogHandler() })
        let running = Task {
            defer { continuation.finish() }
            try await application.run()
        }
        for await port in ports { return BareServer(port: port, running: running, rows: rows) }
        throw WrongResult("The bare server has not started.")
    }

    func stop() async {
        running.cancel()
        _ = await running.result
        rows.close()
    }

    private static func response(_ rows: [BareRow], isList: Bool, count: Int? = nil) -> Response {
        var json = ByteBuffer()
        json.reserveCapacity(16_384)
        if count != nil { json.writeString("{\"results\":") }
        if isList { json.writeString("[") }
        for (position, row) in rows.prefix(BareRow.pageSize).enumerated() {
            if position > 0 { json.writeString(",") }
            row.append(to: &json)
        }
        if isList { json.writeString("]") }
        if let count { json.writeString(",\"count\":\(count)}") }
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: json))
    }
}

extension BareRow {
    /// Appends the JSON that the table server sends. The ids of these benchmarks have no character that JSON escapes.
    fileprivate func append(to json: inout ByteBuffer) {
        json.writeString("{\"createdAt\":\"")
        json.writeString(String(Substring(createdAt.utf8.prefix(23))))
        json.writeString("Z\",\"deleted\":\(deleted),\"id\":\"")
        json.writeString(id)
        json.writeString("\",\"updatedAt\":\"")
        json.writeString(String(Substring(updatedAt.utf8.prefix(23))))
        json.writeString("Z\",\"version\":\"")
        json.writeString(Data(String(revision).utf8).base64EncodedString())
        json.writeString("\",")
        json.writeSubstring(Substring(fields.utf8.dropFirst()))
    }
}
