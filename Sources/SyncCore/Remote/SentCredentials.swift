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
    private let exchanges = Mutex(Exchanges())

    private struct Exchanges {
        var haveReachedServer = false
        var areRepeated = false
    }

    /// Whether the transport has sent the request, and no response has required a sign-in.
    var hasReachedServer: Bool { exchanges.withLock(\.haveReachedServer) }
    /// Whether middleware has sent the request again although the server may have received it.
    var isRepeated: Bool { exchanges.withLock(\.areRepeated) }

    /// Records how an exchange of the transport has ended.
    func record(_ result: Result<HTTPTransportResponse, any Error>) {
        switch result {
        case .success(let response) where response.head.status == .unauthorized: break
        case .failure(let error as NetworkFailure) where !error.mayHaveReachedServer: break
        case .failure(let error as SyncError) where !error.mayHaveReachedServer: break
        case .success, .failure: exchanges.withLock { $0.haveReachedServer = true }
        }
    }

    /// The values, those without a scheme such as "Bearer", and others. The longest is first, because it can contain another.
    func secrets(and others: [String?]) -> [String] {
        values.withLock(\.self).union(others.compactMap(\.self))
            .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// Records the credentials of a request that is being sent.
    func record(_ fields: HTTPFields) {
        exchanges.withLock { if $0.haveReachedServer { $0.areRepeated = true } }
        for field in fields where field.isCredential {
            let parts = field.value.split(separator: " ", maxSplits: 1)
            values.withLock { $0.formUnion([field.value, parts.last.map(String.init) ?? ""]) }
        }
    }
}
