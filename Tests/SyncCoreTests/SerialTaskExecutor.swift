// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Runs the jobs of its tasks on one queue, so that a test can wait until each of them is suspended or finished.
final class SerialTaskExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "SerialTaskExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let unownedJob = UnownedJob(job)
        queue.async { unownedJob.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns when the jobs that were enqueued before this call have run.
    func drain() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
