// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// Sent through a connection to run an action when its client sends no more bytes; at once if it has ended its side before.
struct ClientEnd: Sendable {
    let action: @Sendable () -> Void
}

/// Ends a connection after its last request, and finds the end of the client's side.
///
/// After the last request, the handlers behind this one see the end of the client's side, so that the library ends the
/// connection with the response. By itself, the library knows only the header `Connection: close` in just this spelling.
final class RequestEndHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The number of requests whose responses have not ended.
    private var openRequests = 0
    /// The version of the last request; `nil` before its head.
    private var lastVersion: HTTPVersion?
    /// Whether the last request has arrived to its end.
    private var hasLastRequest = false
    private var hasClientEnded = false
    private var onClientEnd: (@Sendable () -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasLastRequest else { return }
        let part = unwrapInboundIn(data)
        if case .head(let head) = part {
            openRequests += 1
            if head.isLast { lastVersion = head.version }
        }
        context.fireChannelRead(data)
        if case .end = part, lastVersion != nil {
            hasLastRequest = true
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }

    /// After the last request nothing is read. The parser would keep the bytes after `CONNECT` and `Upgrade`, without a limit,
    /// for the handler of another protocol.
    func read(context: ChannelHandlerContext) {
        if !hasLastRequest { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code < 200 && lastVersion == .http1_0:
            // A client of HTTP/1.0 would take it for the response: RFC 9110 §15.2.
            promise?.succeed()
            return
        case .head(var head):
            guard let lastVersion, openRequests == 1, head.status.code >= 200 else { break }
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            // A client of HTTP/1.0 knows no chunks: the end of the connection is that of a body without a length.
            head.version = lastVersion
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end:
            openRequests -= 1
            onClientEnd = nil
        }
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // When both sides have ended, the channel is closed without the bytes that wait to be sent. The end of the whole
        // connection waits for them: see `HTTPConnections`.
        context.close(mode: mode == .output && hasClientEnded ? .all : mode, promise: promise)
    }

    // MARK: The end of the client's side

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let end = event as? ClientEnd else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        onClientEnd = end.action
        if hasClientEnded { endClient() }
        promise?.succeed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { endClient() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        endClient()
        context.fireChannelInactive()
    }

    private func endClient() {
        hasClientEnded = true
        onClientEnd?()
        onClientEnd = nil
    }
}

extension HTTPRequestHead {
    /// Whether no other request can follow on the connection: RFC 9112 §9.3. The server keeps none of HTTP/1.0, and the
    /// parser takes what follows `CONNECT` and `Upgrade` for another protocol.
    fileprivate var isLast: Bool {
        !isKeepAlive || version != .http1_1 || method == .CONNECT || headers.contains(name: "Upgrade")
    }
}
