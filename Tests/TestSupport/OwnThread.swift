// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs a body that blocks or computes for long on its own thread: tasks share few threads, which other tests wait for.
package func onThread<T: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> T
) async throws(Failure) -> T {
    let result = await withCheckedContinuation { continuation in
        let thread = Thread {
            continuation.resume(returning: Result { () throws(Failure) in try body() })
        }
        thread.stackSize = 8 << 20
        thread.start()
    }
    return try result.get()
}
