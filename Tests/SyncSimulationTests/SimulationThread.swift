// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs simulations on their own thread: they never suspend, and would occupy a thread that other tests wait for.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result { try body() }) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
