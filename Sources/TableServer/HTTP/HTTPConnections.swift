// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore

/// HTTP/1 connections that close only when the bytes written to them are sent.
struct HTTPConnections: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let stopSignal: StopSignal

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { [http, stopSignal] value in
            let handler = UnsentBytesHandler(stopSignal, maxDelay: http.configuration.idleTimeout)
            try channel.pipeline.syncOperations.addHandler(handler, position: .first)
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}

/// Delays the end of a connection until the bytes are sent that its socket has not accepted yet; closing discards them.
///
/// The delay ends when the server must stop, or after a time without which a client that reads nothing would keep the
/// connection.
private final class UnsentBytesHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let stopSignal: StopSignal
    private let maxDelay: TimeAmount?
    private var isClosing = false

    init(_ stopSignal: StopSignal, maxDelay: TimeAmount?) {
        (self.stopSignal, self.maxDelay) = (stopSignal, maxDelay)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, context.channel.isActive, !stopSignal.isStopped, hasUnsentBytes(context) else {
            return context.close(mode: mode, promise: promise)
        }
        context.channel.closeFuture.cascade(to: promise)
        guard !isClosing else { return }
        isClosing = true
        let channel = context.channel
        let token = stopSignal.onStop { channel.close(promise: nil) }
        let end = NIOLoopBound(context, eventLoop: context.eventLoop)
        let timeout = maxDelay.map { delay in
            context.eventLoop.scheduleTask(in: delay) { end.value.close(promise: nil) }
        }
        channel.closeFuture.whenComplete { [stopSignal] _ in
            stopSignal.remove(token)
            timeout?.cancel()
        }
        // Writes complete in their order.
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
        sent.futureResult.whenComplete { _ in end.value.close(promise: nil) }
    }

    private func hasUnsentBytes(_ context: ChannelHandlerContext) -> Bool {
        let options = context.channel.syncOptions
        return (try? options?.getOption(.bufferedWritableBytes)).flatMap { $0 } ?? 0 > 0
    }
}
