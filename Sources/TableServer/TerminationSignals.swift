// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// Receives SIGINT and SIGTERM.
package struct TerminationSignals {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]
    private let start: Start

    /// What a signal does during the start of the program; nothing after it.
    private final class Start: Sendable {
        let end: Mutex<(@Sendable () -> Void)?>

        init(_ end: (@Sendable () -> Void)?) { self.end = Mutex(end) }
    }

    /// Starts to receive the signals, which then no longer end the process. One that arrives before this has its default action.
    ///
    /// - Parameter endStart: receives the signals until ``hasStarted()`` is called, on a thread on which the start does not
    ///   run. A start waits for databases, and nothing else can end it.
    package init(duringStart endStart: (@Sendable () -> Void)? = nil) {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.signals = signals
        let start = Start(endStart)
        self.start = start
        let queue = DispatchQueue(label: "TerminationSignals")
        let registrations = DispatchSemaphore(value: 0)
        sources = [SIGINT, SIGTERM].map { number in
            #if canImport(Darwin)
                // The default action would end the process before the source receives the signal. On Linux the source replaces
                // the action, and would lose a signal that is ignored before.
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if let end = start.end.withLock({ $0 }) { end() } else { continuation.yield() }
            }
            source.setRegistrationHandler { registrations.signal() }
            source.resume()
            return source
        }
        for _ in sources { registrations.wait() }
    }

    /// Signals are for ``next()`` from now on.
    package func hasStarted() { start.end.withLock { $0 = nil } }

    /// Waits for the next signal.
    package func next() async {
        for await _ in signals { return }
    }
}
