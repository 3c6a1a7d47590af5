// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableServer {
    /// Injects faults for the next requests. Each fault is used once, in this order.
    ///
    /// - Parameter condition: Which requests get a fault; all by default. Other requests do not use a fault up.
    public func inject(
        _ faults: ServerFault...,
        when condition: @escaping @Sendable (RecordedRequest) -> Bool = { _ in true }
    ) {
        self.faults.add(faults, when: condition)
    }

    /// Sets a hook that returns the fault of each request without an injected one; `nil` removes the hook.
    public func onRequest(_ hook: (@Sendable (RecordedRequest) async -> ServerFault)?) {
        faults.setHook(hook)
    }

    /// Removes the hook and the injected faults.
    public func removeFaults() {
        faults.removeAll()
    }

    /// The requests that the server received, in the order of arrival; empty without
    /// ``Configuration/recordsRequests``.
    public var requests: [RecordedRequest] { log.requests }

    /// Removes the recorded requests.
    public func removeRequests() {
        log.removeAll()
    }
}
