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
        var latest: [RecordedRequest] = []

        mutating func addToLatest(_ request: RecordedRequest) {
            if latest.count == RequestLog.latestCount { latest.removeFirst() }
            latest.append(request)
        }
        var lastID = 0
    }

    /// The number of requests that are also kept without recording.
    private static let latestCount = 50

    var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The latest requests for tables, oldest first.
    var latest: [RecordedRequest] { state.withLock { $0.latest } }

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
            for list in [\State.requests, \State.latest] {
                guard let index = state[keyPath: list].lastIndex(where: { $0.id == request.id }) else {
                    continue
                }
                state[keyPath: list][index].status = status
            }
        }
    }

    func removeAll() {
        state.withLock { $0.requests.removeAll() }
    }
}
