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
        var lastID = 0
    }

    var requests: [RecordedRequest] { state.withLock { $0.requests } }

    func add(_ make: (_ id: Int) -> RecordedRequest) -> RecordedRequest {
        state.withLock { state in
            state.lastID += 1
            let request = make(state.lastID)
            if isRecording { state.requests.append(request) }
            return request
        }
    }

    func setStatus(_ status: Int, of request: RecordedRequest) {
        state.withLock { state in
            guard let index = state.requests.lastIndex(where: { $0.id == request.id }) else { return }
            state.requests[index].status = status
        }
    }

    func removeAll() {
        state.withLock { $0.requests.removeAll() }
    }
}
