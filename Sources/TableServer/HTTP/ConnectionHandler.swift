// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncCore

/// Reads the requests of a connection and writes the responses.
///
/// A thrown error closes the connection, before or during a response.
struct ConnectionHandler: Sendable {
    let handler: RequestHandler
    let keepsAlive: Bool

    /// Thrown to close the connection on purpose.
    private struct ConnectionClosure: Error {}

    @concurrent func respond(
        to request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        // Closing the channel ends every wait of the request: for its body, at a gate, for a slow reader.
        let token = handler.stopSignal.onStop { channel.close(promise: nil) }
        defer { handler.stopSignal.remove(token) }

        // The client sends its body after this response, or some time without one.
        if request.headers[.expect]?.hasSameName(as: "100-continue") == true {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        var parts = request.body.makeAsyncIterator()
        let maxSize = handler.service.settings.maxBodySize(of: request.method.rawValue)
        let body = try await collect(&parts, upTo: maxSize)
        // The response to HEAD is the head of the response to GET.
        let isHead = request.method == .head
        let recorded = handler.log.add { id in
            RecordedRequest(
                id: id, method: isHead ? "GET" : request.method.rawValue, uri: request.head.path ?? "/",
                headers: headers(of: request), body: body.data, bodySize: body.size,
                isBodyComplete: body.isComplete, remoteAddress: channel.remoteAddress?.ipAddress ?? "",
                isServerLocal: channel.parent?.localAddress?.isLoopback == true)
        }
        switch try await handler.handle(recorded) {
        case .respond(var response):
            if !body.isComplete { response.headers.append(("Connection", "close")) }
            if isHead {
                // The head of a feed has no length, so that the library would write the end of a body.
                response.feed = nil
                try await writer.write(response: head(of: response), body: ResponseBody())
            } else if let feed = response.feed {
                var bodyWriter = try await writer.writeHead(head(of: response))
                try await feed.run { text in
                    try await bodyWriter.write(ByteBuffer(string: text))
                } onStart: { end in
                    // A client that has ended its side has gone, or needs no later change.
                    try await channel.triggerUserOutboundEvent(ClientEnd(action: end))
                }
                try await bodyWriter.finish(nil)
            } else {
                let body = ResponseBody(byteBuffer: ByteBuffer(bytes: response.body))
                try await writer.write(response: head(of: response), body: body)
            }
        case .truncate(let response, let count):
            var bodyWriter = try await writer.writeHead(head(of: response))
            try await bodyWriter.write(ByteBuffer(bytes: response.body.prefix(count)))
            throw ConnectionClosure()
        case .closeConnection:
            // A client that receives no byte on a reused connection may repeat the request; curl does, and URLSession
            // on Linux then hangs on requests with a body. An informational response prevents that.
            try await writer.writeInformationalHead(HTTPResponse(status: .init(code: 102)))
            throw ConnectionClosure()
        }
        if !body.isComplete { try await discard(&parts) }
        // The response says `Connection: close`, but the client may not close the connection.
        if !keepsAlive || !body.isComplete { throw ConnectionClosure() }
    }

    /// Reads the whole body and keeps at most the size that the server accepts. Of a body that is many times larger, it reads
    /// only the first part.
    @concurrent private func collect(
        _ parts: inout RequestBody.AsyncIterator, upTo maxSize: Int
    ) async throws -> (data: Data, size: Int, isComplete: Bool) {
        var (data, size) = (Data(), 0)
        while let buffer = try await parts.next() {
            size += buffer.readableBytes
            data.append(contentsOf: buffer.readableBytesView.prefix(maxSize - data.count))
            guard size / 16 <= maxSize else { return (data, size, false) }
        }
        return (data, size, true)
    }

    /// Reads the rest of a body that was answered before its end. If the connection closed while the client sends, the client
    /// would see a reset instead of the response.
    @concurrent private func discard(_ parts: inout RequestBody.AsyncIterator) async throws {
        var size = 0
        while let buffer = try await parts.next() {
            size += buffer.readableBytes
            if size / 1024 > handler.service.settings.maxBodySize { return }
        }
    }

    private func head(of response: ServerResponse) -> HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        // Rows depend on the user, whose token a cache does not know.
        if !fields.contains(.cacheControl) { fields[.cacheControl] = "no-store" }
        if !fields.contains(.date) { fields[.date] = handler.service.settings.clock.now.httpDate }
        // These two have no body by definition, and no length; the length of a feed is unknown.
        if ![204, 304].contains(response.status), response.feed == nil {
            fields[.contentLength] = String(response.body.count)
        }
        if !keepsAlive { fields[.connection] = "close" }
        return HTTPResponse(status: HTTPResponse.Status(code: response.status), headerFields: fields)
    }

    private func headers(of request: Request) -> [RecordedRequest.Header] {
        let fields = request.headers.map { RecordedRequest.Header(name: $0.name.rawName, value: $0.value) }
        guard let host = request.head.authority else { return fields }
        return [RecordedRequest.Header(name: "Host", value: host)] + fields
    }
}
