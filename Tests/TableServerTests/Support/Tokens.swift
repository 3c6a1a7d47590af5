// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JWTKit
import SyncCore
import TableServer

/// Tokens of a test's issuer.
enum Tokens {
    /// The time of the test servers' clock.
    static let noon: Double = 1_717_070_400

    struct Claims: JWTPayload {
        var sub: String? = "user"
        var iss: String? = "https://issuer.example"
        var aud: String? = "app"
        var exp: Double? = Tokens.noon + 3600
        var nbf: Double?
        var role: String?

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// Claims whose roles are one text or a list.
    struct RoleClaims<Role: Codable & Sendable>: JWTPayload {
        var sub = "user"
        var exp = Tokens.noon + 3600
        var role: Role?
        var roles: Role?

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    enum Key: CaseIterable { case secret, rsa, ec }

    static let secret = Data("a secret of at least 32 bytes, for tests".utf8)

    static func authentication() throws -> TableServer.Authentication {
        TableServer.Authentication(
            secret: secret, keySet: keySet, issuer: "https://issuer.example", audience: "app")
    }

    static func token(of user: String, role: String? = nil) async throws -> String {
        var claims = Claims()
        claims.sub = user
        claims.role = role
        return try await token(claims, .secret)
    }

    static func token(_ claims: some JWTPayload, _ key: Key) async throws -> String {
        try await token(claims, key, kid: key == .rsa ? "rsa" : key == .ec ? "ec" : nil)
    }

    static func token(
        _ claims: some JWTPayload, _ key: Key, kid: String?, crit: JWTHeaderField? = nil
    ) async throws -> String {
        let keys = JWTKeyCollection()
        switch key {
        case .secret: await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        case .rsa:
            await keys.add(rsa: try Insecure.RSA.PrivateKey(pem: rsaPrivateKey), digestAlgorithm: .sha256)
        case .ec: await keys.add(ecdsa: try ES256PrivateKey(pem: ecPrivateKey))
        }
        var header = JWTHeader()
        header.kid = kid
        if let crit { header.fields["crit"] = crit }
        return try await keys.sign(claims, header: header)
    }
}
