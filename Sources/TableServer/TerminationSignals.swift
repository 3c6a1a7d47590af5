// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Receives SIGINT and SIGTERM.
package struct TerminationSignals {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Starts to receive the signals, which then no longer end the process.
    package init() {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.signals = signals
        sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the dispatch source receives the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Waits for the next signal.
    package func next() async {
        for await _ in signals { return }
    }
}
