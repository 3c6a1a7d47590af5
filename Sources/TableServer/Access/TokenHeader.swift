// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The parameters of a token's header that the server reads. It is decoded before the signature is verified, so the content
/// is from any client; JWTKit's type for all parameters traps at a whole number that is too large for `Int`.
struct TokenHeader: Decodable {
    let alg: String?
    let kid: String?
    /// Whether the header names extensions, without which the token must not be accepted.
    let hasCriticalExtensions: Bool

    private enum CodingKeys: CodingKey { case alg, kid, crit }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        alg = try container.decodeIfPresent(String.self, forKey: .alg)
        kid = try container.decodeIfPresent(String.self, forKey: .kid)
        hasCriticalExtensions = container.contains(.crit)
    }

    /// Reads the header of a token: its first part, base64url without padding. `nil` if it is malformed.
    init?(ofToken token: String) {
        var base64 = Data(
            token.utf8.prefix { $0 != UInt8(ascii: ".") }.map { byte -> UInt8 in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            })
        base64.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - base64.count % 4) % 4))
        guard let json = Data(base64Encoded: base64),
            let header = try? JSONDecoder().decode(TokenHeader.self, from: json)
        else { return nil }
        self = header
    }
}
