// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// SIGINT and SIGTERM, from the moment this is made.
package struct TerminationSignals {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Begins to listen; from now on the signals do not end the process.
    package init() {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.signals = signals
        sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the source hears of the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when one of them has come.
    package func next() async {
        for await _ in signals { return }
    }
}
