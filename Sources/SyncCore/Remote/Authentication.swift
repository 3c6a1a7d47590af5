// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The token of the signed-in user and the way to a new one.
final class Authentication: Sendable {
    /// A token, and how many came before it.
    struct Credential {
        var token: String?
        var generation = 0
    }

    private let credential = Mutex(Credential())
    private let turns = AsyncMutex()
    private let refresh: (@Sendable () async throws -> String?)?

    init(refresh: (@Sendable () async throws -> String?)?) {
        self.refresh = refresh
    }

    var current: Credential { credential.withLock { $0 } }

    func set(_ token: String?) {
        credential.withLock { $0 = Credential(token: token, generation: $0.generation + 1) }
    }

    /// Asks the app for a new token, one caller at a time: a refresh token can often be used only once. Who waited
    /// while another caller got one takes that.
    ///
    /// - Returns: whether there is another token than that of the given generation.
    func refresh(after generation: Int) async throws -> Bool {
        guard let refresh else { return hasOtherToken(than: generation) ?? false }
        return try await turns.withLock {
            if let hasOther = hasOtherToken(than: generation) { return hasOther }
            guard let token = try await Self.call(refresh) else { return false }
            return credential.withLock { credential in
                // A token that the app set meanwhile is newer.
                if credential.generation == generation {
                    credential = Credential(token: token, generation: generation + 1)
                }
                return credential.token != nil
            }
        }
    }

    /// Whether there is a token, if it is not of that generation; `nil` if it is.
    private func hasOtherToken(than generation: Int) -> Bool? {
        let current = current
        return current.generation == generation ? nil : current.token != nil
    }

    private static func call(_ refresh: @Sendable () async throws -> String?) async throws -> String? {
        do { return try await refresh() } catch let error as CancellationError { throw error } catch {
            throw SyncError(
                .authenticationRequired, "The server asks to sign in, and getting a new token failed.",
                cause: error)
        }
    }
}
