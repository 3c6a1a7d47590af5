// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
import JWTKit

extension TableServer.Authentication {
    /// Returns a token of a user, signed with the ``secret``: for tests, and to try a server without a sign-in service.
    ///
    /// It has the required ``issuer`` and ``audience``.
    ///
    /// - Parameters:
    ///   - user: the user's id.
    ///   - isAdmin: whether the token has the role ``adminRole``.
    ///   - expiration: when the token expires, by the server's clock.
    /// - Throws: ``TableServerError`` without a secret of at least 32 bytes.
    public func token(
        of user: String, isAdmin: Bool = false, expires expiration: Date = .now + 3600
    ) async throws(TableServerError) -> String {
        guard let secret else {
            throw TableServerError(.configuration, "A token can be signed with the setting 'secret' only.")
        }
        let keys = try await TokenVerifier.keys(secret: secret)
        let claims = UserClaims(
            sub: user, exp: expiration.timeIntervalSince1970, iss: issuer, aud: audience,
            role: isAdmin ? adminRole : nil)
        do { return try await keys.sign(claims) } catch {
            throw TableServerError(.configuration, "The token cannot be signed.", cause: error)
        }
    }
}

private struct UserClaims: JWTPayload {
    let sub: String
    let exp: Double
    let iss: String?
    let aud: String?
    let role: String?

    func verify(using algorithm: some JWTAlgorithm) {}
}
