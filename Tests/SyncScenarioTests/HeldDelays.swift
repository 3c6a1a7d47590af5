// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Delays that last until a test ends them.
struct HeldDelays {
    private let start = TestSignal()
    private let end = TestSignal()

    /// Waits until a delay starts.
    func waitForStart() async throws { try await start.wait() }

    /// Ends the current delay.
    func endOne() { end.send() }

    /// Ends the current delay and all later ones.
    func endAll() { end.finish() }

    func wait() async throws {
        start.send()
        try await end.wait()
    }
}
