// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The faults that a test has injected, and the test's hook.
final class FaultScript: Sendable {
    typealias Condition = @Sendable (RecordedRequest) -> Bool
    typealias Hook = @Sendable (RecordedRequest) async -> ServerFault

    private let state = Mutex(State())

    private struct State {
        var queue: [(fault: ServerFault, condition: Condition)] = []
        var hook: Hook?
    }

    func add(_ faults: [ServerFault], when condition: @escaping Condition) {
        state.withLock { state in
            for fault in faults { state.queue.append((fault, condition)) }
        }
    }

    func setHook(_ hook: Hook?) {
        state.withLock { $0.hook = hook }
    }

    func removeAll() {
        state.withLock { $0 = State() }
    }

    /// Returns the fault for a request: the first queued fault whose condition holds, which is removed, or else the
    /// hook's.
    func fault(for request: RecordedRequest) async -> ServerFault {
        let (queuedFault, hook) = state.withLock { state -> (ServerFault?, Hook?) in
            let index = state.queue.firstIndex { $0.condition(request) }
            return (index.map { state.queue.remove(at: $0).fault }, state.hook)
        }
        if let queuedFault { return queuedFault }
        return await hook?(request) ?? .none
    }
}
