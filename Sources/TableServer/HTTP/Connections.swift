// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncCore

/// Where requests come in from connections and answers go out.
///
/// To throw ends the connection as it is: before an answer, or in the middle of one.
struct Connections: Sendable {
    let handler: RequestHandler
    let keepsOpen: Bool

    /// The end of a connection that a fault asked for.
    private struct HangUp: Error {}

    @concurrent func respond(
        to request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        // Whatever the request waits for, its body, a gate or a slow reader, ends when the connection does.
        let token = handler.stopSignal.onStop { channel.close(promise: nil) }
        defer { handler.stopSignal.remove(token) }

        let body = try await collect(request.body)
        let recorded = handler.log.add { id in
            RecordedRequest(
                id: id, method: request.method.rawValue, uri: request.head.path ?? "/",
                headers: headers(of: request), body: body.data, bodySize: body.size)
        }
        switch try await handler.handle(recorded) {
        case .answer(let answer):
            let body = ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
            try await writer.write(response: head(answer), body: body)
        case .truncated(let answer, let count):
            var bodyWriter = try await writer.writeHead(head(answer))
            try await bodyWriter.write(ByteBuffer(bytes: answer.body.prefix(count)))
            throw HangUp()
        case .hangUp:
            // A client that has heard nothing at all on a connection it used before may send the request again by
            // itself; curl does, and URLSession on Linux then hangs on requests with a body.
            try await writer.writeInformationalHead(HTTPResponse(status: .init(code: 102)))
            throw HangUp()
        }
        // The connection is closed after the answer to a request that says so; the client may not have.
        if !keepsOpen { throw HangUp() }
    }

    /// Reads a body to its end but keeps no more of it than the server accepts.
    private func collect(_ body: RequestBody) async throws -> (data: Data, size: Int) {
        var (data, size) = (Data(), 0)
        for try await buffer in body {
            size += buffer.readableBytes
            let room = handler.service.settings.maxBodySize - data.count
            data.append(contentsOf: buffer.readableBytesView.prefix(room))
        }
        return (data, size)
    }

    private func head(_ answer: Answer) -> HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        if !fields.contains(.date) { fields[.date] = handler.service.settings.clock.now.httpDate }
        fields[.contentLength] = String(answer.body.count)
        if !keepsOpen { fields[.connection] = "close" }
        return HTTPResponse(status: HTTPResponse.Status(code: answer.status), headerFields: fields)
    }

    private func headers(of request: Request) -> [RecordedRequest.Header] {
        let fields = request.headers.map { RecordedRequest.Header(name: $0.name.rawName, value: $0.value) }
        guard let host = request.head.authority else { return fields }
        return [RecordedRequest.Header(name: "Host", value: host)] + fields
    }
}
