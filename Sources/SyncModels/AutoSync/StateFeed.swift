// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The state of an automatic sync and the streams that follow it.
final class StateFeed: Sendable {
    private struct Contents {
        var state = AutoSync.State()
        var streams: [Int: AsyncStream<AutoSync.State>.Continuation] = [:]
        var lastStream = 0
    }

    private let contents = Mutex(Contents())

    var state: AutoSync.State { contents.withLock { $0.state } }

    /// Changes the state, and sends it to all streams if it differs.
    func update(_ change: (inout AutoSync.State) -> Void) {
        contents.withLock { contents in
            let previous = contents.state
            change(&contents.state)
            guard contents.state != previous else { return }
            for stream in contents.streams.values { stream.yield(contents.state) }
        }
    }

    /// Returns a stream of the current state and of later ones; a reader that is busy receives the newest.
    func stream() -> AsyncStream<AutoSync.State> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AutoSync.State.self, bufferingPolicy: .bufferingNewest(1))
        let key = contents.withLock { contents in
            contents.lastStream += 1
            contents.streams[contents.lastStream] = continuation
            continuation.yield(contents.state)
            return contents.lastStream
        }
        continuation.onTermination = { [weak self] _ in
            self?.contents.withLock { _ = $0.streams.removeValue(forKey: key) }
        }
        return stream
    }

    deinit { for stream in contents.withLock({ $0.streams.values }) { stream.finish() } }
}
