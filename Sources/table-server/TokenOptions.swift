// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TableServer

/// How tokens of users are verified.
struct TokenOptions: ParsableArguments {
    @Option(help: "The file with the secret of tokens with HS256; line breaks at its end are left out.")
    var secretFile: String?

    @Option(help: "The JSON Web Key Set with the public keys of tokens with RS256 and ES256.")
    var keySet: String?

    @Option(help: "The required issuer of tokens.")
    var issuer: String?

    @Option(help: "The required audience of tokens.")
    var audience: String?

    /// The settings, or `nil` when there is no key.
    func authentication() throws -> TableServer.Authentication? {
        guard secretFile != nil || keySet != nil else {
            guard issuer == nil, audience == nil else {
                throw ValidationError("--issuer and --audience need --secret-file or --key-set.")
            }
            return nil
        }
        return TableServer.Authentication(
            secret: try secretFile.map { path in
                let secret = try contents(ofFile: path)
                return Data(secret.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed())
            },
            keySet: try keySet.map(contents), issuer: issuer, audience: audience)
    }
}
