// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableServer {
    /// Lets the next requests meet faults: each fault is used once, in this order.
    ///
    /// - Parameter condition: Which requests are meant; all by default. The others pass without using a fault up.
    public func inject(
        _ faults: ServerFault...,
        when condition: @escaping @Sendable (RecordedRequest) -> Bool = { _ in true }
    ) {
        self.faults.add(faults, when: condition)
    }

    /// Asks a hook what to do with every request for which no injected fault is left; `nil` removes the hook.
    public func onRequest(_ hook: (@Sendable (RecordedRequest) async -> ServerFault)?) {
        faults.setHook(hook)
    }

    /// Forgets the hook and the faults that were injected and not used.
    public func removeFaults() {
        faults.removeAll()
    }

    /// The requests that reached the server, in the order of arrival.
    public var requests: [RecordedRequest] { log.requests }

    /// Forgets the requests so far.
    public func removeRequests() {
        log.removeAll()
    }
}
