// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension TableServer {
    /// How the server verifies the tokens of users: JSON Web Tokens in `Authorization: Bearer …` or `X-ZUMO-AUTH: …`.
    ///
    /// A token needs the claims `sub`, the user's id, and `exp`. Its algorithm is HS256 with the secret, or RS256 or ES256
    /// with a key of the key set that its header names. A request with any other token gets status 401, also for tables
    /// that need none.
    public struct Authentication: Sendable {
        /// The secret of tokens with HS256, at least 32 bytes.
        public var secret: Data?
        /// The public keys of tokens with RS256 and ES256: a JSON Web Key Set, whose keys have a `kid`.
        public var keySet: Data?
        /// The required `iss` of tokens; `nil` for any.
        public var issuer: String?
        /// The required `aud` of tokens; `nil` for any.
        public var audience: String?
        /// The value of the claim `role`, or a value of the claim `roles`, of administrators.
        public var adminRole = "admin"
        /// How long a token is valid after `exp` and before `nbf`, because clocks differ.
        public var tolerance = Duration.seconds(30)

        /// Creates settings. The server does not start without a secret and a key set.
        public init(
            secret: Data? = nil, keySet: Data? = nil, issuer: String? = nil, audience: String? = nil
        ) {
            self.secret = secret
            self.keySet = keySet
            self.issuer = issuer
            self.audience = audience
        }
    }
}
