// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The requests that the server received, in the order of arrival.
final class RequestLog: Sendable {
    private let state = Mutex(State())
    private let isRecording: Bool

    init(isRecording: Bool) {
        self.isRecording = isRecording
    }

    private struct State {
        var requests: [RecordedRequest] = []
        /// The latest requests for tables, as a ring.
        var ring: [RecordedRequest] = []
        /// The position of the oldest request in the full ring.
        var oldest = 0
        var lastID = 0

        mutating func addToLatest(_ request: RecordedRequest) {
            guard ring.count == RequestLog.latestCount else { return ring.append(request) }
            ring[oldest] = request
            oldest = (oldest + 1) % ring.count
        }
    }

    /// The number of requests that are also kept without recording.
    private static let latestCount = 50

    var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The latest requests for tables, oldest first.
    var latest: [RecordedRequest] { state.withLock { Array($0.ring[$0.oldest...] + $0.ring[..<$0.oldest]) } }

    func add(_ make: (_ id: Int) -> RecordedRequest) -> RecordedRequest {
        state.withLock { state in
            state.lastID += 1
            let request = make(state.lastID)
            if isRecording { state.requests.append(request) }
            // Without the requests of the pages that show this list, and those of supervisors.
            if request.target != nil { state.addToLatest(request) }
            return request
        }
    }

    func setStatus(_ status: Int, of request: RecordedRequest) {
        state.withLock { state in
            state.requests.setStatus(status, of: request.id)
            state.ring.setStatus(status, of: request.id)
        }
    }

    func removeAll() {
        state.withLock { $0.requests.removeAll() }
    }
}

extension [RecordedRequest] {
    fileprivate mutating func setStatus(_ status: Int, of id: Int) {
        if let index = indices.last(where: { self[$0].id == id }) { self[index].status = status }
    }
}
