// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// HTTP/1 connections that close only when the bytes written to them are sent, or when their clients do not read.
struct HTTPConnections: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let stopSignal: StopSignal

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { [http, stopSignal] value in
            let pipeline = channel.pipeline.syncOperations
            let limit = http.configuration.idleTimeout.map { Duration($0) }
            try pipeline.addHandler(UnsentBytesHandler(stopSignal, timeLimit: limit), position: .first)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestEndHandler(), position: .after(decoder))
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}

/// Watches the bytes that the socket has not accepted yet.
///
/// A connection closes when its client has accepted none of them for the time limit. Otherwise its end is delayed until they
/// are sent, because closing discards them, or until the server must stop.
private final class UnsentBytesHandler: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    private let stopSignal: StopSignal
    private let timeLimit: Duration?
    private var isClosing = false
    private var writtenBytes = 0
    private var progress: SendProgress
    private var nextCheck: Scheduled<Void>?

    init(_ stopSignal: StopSignal, timeLimit: Duration?) {
        (self.stopSignal, self.timeLimit) = (stopSignal, timeLimit)
        progress = SendProgress(limit: timeLimit ?? .zero)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        nextCheck?.cancel()
        nextCheck = nil
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writtenBytes += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        checkProgress(context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, context.channel.isActive, !stopSignal.isStopped, unsentBytes(context) > 0 else {
            return context.close(mode: mode, promise: promise)
        }
        context.channel.closeFuture.cascade(to: promise)
        guard !isClosing else { return }
        isClosing = true
        let channel = context.channel
        let token = stopSignal.onStop { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [stopSignal] _ in stopSignal.remove(token) }
        let end = NIOLoopBound(context, eventLoop: context.eventLoop)
        // Writes complete in their order.
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
        sent.futureResult.whenComplete { _ in end.value.close(promise: nil) }
        checkProgress(context)
    }

    /// Closes the connection if its client has stopped reading. Looks again after a part of the time limit while bytes wait:
    /// the socket also accepts parts of a write, which completes no promise.
    private func checkProgress(_ context: ChannelHandlerContext) {
        guard let timeLimit, nextCheck == nil else { return }
        let unsent = unsentBytes(context)
        guard !progress.isStalled(sentBytes: writtenBytes - unsent, unsentBytes: unsent, at: .now) else {
            return context.close(promise: nil)
        }
        guard unsent > 0 else { return }
        nextCheck = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeLimit / 4)) { [self] in
            nextCheck = nil
            checkProgress(context)
        }
    }

    private func unsentBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
