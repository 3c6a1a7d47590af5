// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JWTKit
import Logging
import SyncCore

/// Verifies the tokens of requests.
struct TokenVerifier: Sendable {
    private let settings: TableServer.Authentication
    private let clock: ServerClock
    /// The keys for each algorithm. A public key is never a secret of HS256, and there is no default public
    /// key: a token that names another one is refused.
    private let secretKey: JWTKeyCollection?
    private let publicKeys: JWTKeyCollection
    private let publicKeyIDs: Set<String>

    /// - Throws: ``TableServerError`` when a key is missing or cannot be used.
    init(
        _ settings: TableServer.Authentication, clock: ServerClock, logger: Logger
    ) async throws(TableServerError) {
        self.settings = settings
        self.clock = clock
        guard settings.secret != nil || settings.keySet != nil else {
            throw TableServerError(.configuration, "Authentication needs a secret or a key set.")
        }
        secretKey = if let secret = settings.secret { try await Self.keys(secret: secret) } else { nil }
        let keys = JWTKeyCollection()
        publicKeyIDs =
            if let keySet = settings.keySet {
                try await Self.add(keySet, to: keys, logger)
            } else { [] }
        publicKeys = keys
    }

    static func keys(secret: Data) async throws(TableServerError) -> JWTKeyCollection {
        guard secret.count >= 32 else {
            throw TableServerError(
                .configuration, "The setting 'secret' has \(secret.count) bytes; HS256 needs at least 32.")
        }
        return await JWTKeyCollection().add(
            hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    }

    /// Adds the keys that can be used, and returns their ids. RFC 7517 §5: keys of unknown kinds are ignored, because an
    /// issuer may add them at any time.
    private static func add(
        _ keySet: Data, to keys: JWTKeyCollection, _ logger: Logger
    ) async throws(TableServerError) -> Set<String> {
        let set: KeySet
        do { set = try JSONDecoder().decode(KeySet.self, from: keySet) } catch {
            let form = keySet.starts(with: Data("-----BEGIN".utf8)) ? ", not PEM" : ""
            throw TableServerError(
                .configuration,
                "The setting 'keySet' must be a JSON Web Key Set, such as {\"keys\": [{\"kty\": \"RSA\", …}]}\(form).",
                cause: error)
        }
        var ids: Set<String> = []
        var problem = "it has no keys."
        for key in set.keys {
            do {
                let key = try key.get()
                guard key.keyType == .rsa || key.keyType == .ecdsa, let id = key.keyIdentifier?.string else {
                    throw UnusableKey()
                }
                try await keys.add(jwk: key)
                ids.insert(id)
            } catch {
                problem = "\(error)"
                logger.warning("A key of the setting 'keySet' is not used: \(error)")
            }
        }
        guard !ids.isEmpty else {
            throw TableServerError(
                .configuration, "The setting 'keySet' has no key that can be used: \(problem)")
        }
        return ids
    }

    /// Returns the user of a request: anonymous if it has no token.
    ///
    /// - Throws: status 401 when the token is not valid.
    func caller(of request: RecordedRequest) async throws(RequestError) -> Caller {
        guard let token = request.token else { return .anonymous }
        let claims = try await claims(of: token)
        guard let user = claims.sub, !user.isEmpty, user.utf8.count <= 255, !user.utf8.contains(0) else {
            throw .unauthorized("The token has no 'sub', or one that is longer than 255 bytes.")
        }
        let roles = (claims.roles?.texts ?? []) + (claims.role?.texts ?? [])
        return .user(id: user, isAdmin: roles.contains(settings.adminRole), end: try end(of: claims))
    }

    private func claims(of token: String) async throws(RequestError) -> TokenClaims {
        guard let header = TokenHeader(ofToken: token) else { throw .malformedToken }
        // RFC 7515 §4.1.11. The server supports no extensions.
        guard !header.hasCriticalExtensions else {
            throw .unauthorized("The header of the token has 'crit': the server supports no extensions.")
        }
        let keyCollection = try keys(algorithm: header.alg, keyID: header.kid)
        let claims: TokenClaims
        do { claims = try await keyCollection.verify(token) } catch { throw .malformedToken }
        try check(claims)
        return claims
    }

    private func keys(algorithm: String?, keyID: String?) throws(RequestError) -> JWTKeyCollection {
        switch algorithm {
        case "HS256":
            if let secretKey { return secretKey }
        case "RS256", "ES256":
            if let keyID, publicKeyIDs.contains(keyID) { return publicKeys }
        default: break
        }
        throw .unauthorized("The server has no key for the algorithm and the key that the token names.")
    }

    /// Until when the token is accepted.
    private func end(of claims: TokenClaims) throws(RequestError) -> Timestamp {
        guard let expiration = claims.exp else { throw .expired }
        return Timestamp(Date(timeIntervalSince1970: expiration)).advanced(by: settings.tolerance)
    }

    private func check(_ claims: TokenClaims) throws(RequestError) {
        let now = clock.now
        guard now.isEarlier(than: try end(of: claims)) else { throw .expired }
        let tolerance = settings.tolerance / .seconds(1)
        if let start = claims.nbf, now.date.timeIntervalSince1970 < start - tolerance {
            throw .unauthorized("The token is not valid yet.")
        }
        if let issuer = settings.issuer, claims.iss != issuer {
            throw .unauthorized("The token is of another issuer.")
        }
        if let audience = settings.audience, claims.aud?.texts.contains(audience) != true {
            throw .unauthorized("The token is for another audience.")
        }
    }
}

extension RequestError {
    fileprivate static var malformedToken: RequestError {
        .unauthorized("The token is malformed, or its signature is not valid.")
    }

    fileprivate static var expired: RequestError {
        .unauthorized("The token has expired, or has no 'exp'.")
    }
}

/// A JSON Web Key Set, whose keys can be of any kind.
private struct KeySet: Decodable {
    let keys: [Result<JWK, any Error>]

    private struct Key: Decodable {
        let result: Result<JWK, any Error>

        init(from decoder: any Decoder) throws { result = Result { try JWK(from: decoder) } }
    }

    private enum CodingKeys: CodingKey { case keys }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keys = try container.decode([Key].self, forKey: .keys).map(\.result)
    }
}

private struct UnusableKey: Error, CustomStringConvertible {
    var description: String { "it has no 'kid', or its 'kty' is not RSA or EC." }
}

/// The claims of a token that the server reads. Signatures are verified before the claims are used.
private struct TokenClaims: JWTPayload {
    let sub: String?
    let iss: String?
    let aud: Texts?
    let exp: Double?
    let nbf: Double?
    let role: Texts?
    let roles: Texts?

    /// The server checks the claims itself, by its clock.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// One text or a list of texts; issuers write both.
    struct Texts: Codable {
        let texts: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            texts = try (try? container.decode(String.self)).map { [$0] } ?? container.decode([String].self)
        }

        func encode(to encoder: any Encoder) throws { try texts.encode(to: encoder) }
    }
}

extension RecordedRequest {
    /// The token of the request; `Authorization` wins over `X-ZUMO-AUTH`.
    fileprivate var token: String? {
        guard let authorization = header("Authorization") else { return header("X-ZUMO-AUTH") }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            return header("X-ZUMO-AUTH") ?? authorization
        }
        return String(parts[1])
    }
}
