// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The faults that a test has injected, and the test's hook.
final class FaultScript: Sendable {
    typealias Condition = @Sendable (RecordedRequest) -> Bool
    typealias Hook = @Sendable (RecordedRequest) async -> ServerFault

    private let state = Mutex(State())

    private struct State {
        var queue: [QueuedFault] = []
        var lastID = 0
        var hook: Hook?
    }

    private struct QueuedFault {
        let id: Int
        let fault: ServerFault
        let condition: Condition
    }

    func add(_ faults: [ServerFault], when condition: @escaping Condition) {
        state.withLock { state in
            for fault in faults {
                state.lastID += 1
                state.queue.append(QueuedFault(id: state.lastID, fault: fault, condition: condition))
            }
        }
    }

    func setHook(_ hook: Hook?) {
        state.withLock { $0.hook = hook }
    }

    func removeAll() {
        state.withLock { state in (state.queue, state.hook) = ([], nil) }
    }

    /// Returns the fault for a request: the first queued fault whose condition holds, which is removed, or else the
    /// hook's.
    func fault(for request: RecordedRequest) async -> ServerFault {
        let (queue, hook) = state.withLock { ($0.queue, $0.hook) }
        // Conditions run without the lock, because they can add faults.
        for queued in queue where queued.condition(request) {
            let isFree = state.withLock { state in
                guard let index = state.queue.firstIndex(where: { $0.id == queued.id }) else { return false }
                state.queue.remove(at: index)
                return true
            }
            if isFree { return queued.fault }
        }
        return await hook?(request) ?? .none
    }
}
