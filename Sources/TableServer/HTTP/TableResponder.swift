// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Where requests come in from connections and answers go out.
struct TableResponder: HTTPResponder {
    let handler: RequestHandler
    let keepsConnections: Bool

    /// The connection of a request, which some faults end.
    struct Context: InitializableFromSource {
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            channel = source.channel
        }
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        let body = try await collect(request.body)
        let recorded = handler.log.add { id in
            RecordedRequest(
                id: id, method: request.method.rawValue, uri: request.head.path ?? "/",
                headers: Self.headers(of: request), body: body.data, bodySize: body.size)
        }
        switch try await handler.handle(recorded) {
        case .answer(let answer):
            return response(answer, body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        case .truncated(let answer, let count):
            let part = ByteBuffer(bytes: answer.body.prefix(count))
            let body = ResponseBody(contentLength: answer.body.count) { writer in
                try await writer.write(part)
                throw HangUp()
            }
            return response(answer, body: body)
        case .hangUp:
            try await context.channel.close()
            throw HangUp()
        }
    }

    /// Ends a connection before its answer is complete.
    private struct HangUp: Error {}

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

    private func response(_ answer: Answer, body: ResponseBody) -> Response {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        if !keepsConnections { headers[.connection] = "close" }
        return Response(status: HTTPResponse.Status(code: answer.status), headers: headers, body: body)
    }

    private static func headers(of request: Request) -> [RecordedRequest.Header] {
        let fields = request.headers.map { RecordedRequest.Header(name: $0.name.rawName, value: $0.value) }
        guard let host = request.head.authority else { return fields }
        return [RecordedRequest.Header(name: "Host", value: host)] + fields
    }
}
