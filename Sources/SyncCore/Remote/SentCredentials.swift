// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Synchronization

/// What a request that passes through middleware has sent: the credentials, so that they can be hidden where the server repeats
/// them, and whether the server may have received it.
final class SentCredentials: Sendable {
    /// Those of the request that the current task sends.
    @TaskLocal static var current: SentCredentials?

    private let values = Mutex<Set<String>>([])
    private let state = Mutex(false)

    /// Whether the transport has sent the request, and no response has required a sign-in.
    var hasReachedServer: Bool { state.withLock(\.self) }

    /// Records how an exchange of the transport has ended.
    func record(_ result: Result<HTTPTransportResponse, any Error>) {
        switch result {
        case .success(let response) where response.head.status == .unauthorized: break
        case .failure(let error as NetworkFailure) where !error.mayHaveReachedServer: break
        case .failure(let error as SyncError) where !error.mayHaveReachedServer: break
        case .success, .failure: state.withLock { $0 = true }
        }
    }

    /// The values, and those without a scheme such as "Bearer". The longest is first, because it can contain another.
    var secrets: [String] {
        values.withLock { $0.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) } }
    }

    /// Records the credentials of a request that is being sent.
    func record(_ fields: HTTPFields) {
        for field in fields where field.isCredential {
            let parts = field.value.split(separator: " ", maxSplits: 1)
            values.withLock { $0.formUnion([field.value, parts.last.map(String.init) ?? ""]) }
        }
    }
}
