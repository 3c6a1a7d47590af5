// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JWTKit
import SyncCore
import TableServer
import Testing

/// Which tokens the server accepts.
@Suite(.onEachStorage)
struct TokenTests {
    /// Returns the status of a read that needs a user.
    private func status(
        _ token: String?, header: String = "X-ZUMO-AUTH",
        _ adjust: (inout TableServer.Authentication) -> Void = { _ in }
    ) async throws -> Int {
        var authentication = try Tokens.authentication()
        adjust(&authentication)
        var status = 0
        try await withServer({
            $0.tables = [.init("TodoItem", permissions: .init(.authenticated))]
            $0.authentication = authentication
        }) { _, client in
            let reply = try await client.send(
                "GET", "/tables/TodoItem", headers: token.map { [header: $0] } ?? [:])
            #expect(reply.status == 200 || reply["error"]?.textValue?.isEmpty == false)
            status = reply.status
        }
        return status
    }

    @Test(arguments: Tokens.Key.allCases)
    func `a valid token of each algorithm is accepted, in both headers`(_ key: Tokens.Key) async throws {
        let token = try await Tokens.token(Tokens.Claims(), key)
        #expect(try await status(token) == 200)
        #expect(try await status("Bearer \(token)", header: "Authorization") == 200)
        #expect(try await status("bearer \(token)", header: "authorization") == 200)
    }

    @Test
    func `a token that the settings sign is accepted until it expires, and has the role of administrators`()
        async throws
    {
        var authentication = try Tokens.authentication()
        let noon = Date(timeIntervalSince1970: Tokens.noon)
        #expect(try await status(authentication.token(of: "ann", expires: noon + 60)) == 200)
        #expect(try await status(authentication.token(of: "ann", expires: noon - 60)) == 401)
        try await withServer({ [authentication] in
            $0.tables = [.init("TodoItem", permissions: .init(.admin))]
            $0.authentication = authentication
        }) { [authentication] _, client in
            for (isAdmin, status) in [(true, 200), (false, 403)] {
                let token = try await authentication.token(of: "ann", isAdmin: isAdmin, expires: noon + 60)
                let reply = try await client.send("GET", "/tables/TodoItem", headers: ["X-ZUMO-AUTH": token])
                #expect(reply.status == status)
            }
        }
        authentication.secret = nil
        do {
            _ = try await authentication.token(of: "ann")
            Issue.record("A token was signed without a secret.")
        } catch { #expect(error.code == .configuration) }
    }

    @Test func `a request without a token is 401 where a user is needed`() async throws {
        #expect(try await status(nil) == 401)
        #expect(try await status("") == 401)
    }

    @Test(
        arguments: [
            { $0.exp = Tokens.noon - 31 }, { $0.exp = nil }, { $0.nbf = Tokens.noon + 31 },
            { $0.iss = "other" },
            { $0.iss = nil }, { $0.aud = "other" }, { $0.aud = nil }, { $0.sub = nil }, { $0.sub = "" },
            { $0.sub = String(repeating: "x", count: 256) },
        ] as [@Sendable (inout Tokens.Claims) -> Void])
    func `a token whose claims are not valid is 401`(
        _ change: @Sendable (inout Tokens.Claims) -> Void
    ) async throws {
        var claims = Tokens.Claims()
        change(&claims)
        #expect(try await status(Tokens.token(claims, .secret)) == 401)
    }

    @Test(
        arguments: [
            { $0.exp = Tokens.noon - 29 }, { $0.nbf = Tokens.noon + 29 },
        ] as [@Sendable (inout Tokens.Claims) -> Void])
    func `clocks may differ by the tolerance`(
        _ change: @Sendable (inout Tokens.Claims) -> Void
    ) async throws {
        var claims = Tokens.Claims()
        change(&claims)
        #expect(try await status(Tokens.token(claims, .secret)) == 200)
        #expect(try await status(Tokens.token(claims, .secret)) { $0.tolerance = .seconds(5) } == 401)
    }

    @Test func `a token without a signature is 401`() async throws {
        let parts = try await Tokens.token(Tokens.Claims(), .secret).split(separator: ".")
        for header in [#"{"alg":"none"}"#, #"{"alg":"None","kid":"rsa"}"#, #"{}"#, #"{"kid":"rsa"}"#] {
            for signature in ["", String(parts[2])] {
                let token = "\(Data(header.utf8).base64URL).\(parts[1]).\(signature)"
                #expect(try await status(token) == 401)
            }
        }
    }

    @Test func `a token that is signed with a public key as the secret is 401`() async throws {
        for pem in [Tokens.rsaPublicKey, Tokens.ecPublicKey] {
            for secret in [
                pem, pem.trimmingCharacters(in: .newlines), String(decoding: Tokens.keySet, as: UTF8.self),
            ] {
                for kid in [nil, "rsa", "ec"] {
                    let keys = await JWTKeyCollection().add(
                        hmac: HMACKey(from: Data(secret.utf8)), digestAlgorithm: .sha256,
                        kid: kid.map { JWKIdentifier(string: $0) })
                    let token = try await keys.sign(
                        Tokens.Claims(), kid: kid.map { JWKIdentifier(string: $0) })
                    #expect(try await status(token) == 401)
                    #expect(try await status(token) { $0.secret = nil } == 401)
                }
            }
        }
    }

    @Test func `a token of an unknown key is 401`() async throws {
        let claims = Tokens.Claims()
        #expect(try await status(Tokens.token(claims, .rsa, kid: "other")) == 401)
        #expect(try await status(Tokens.token(claims, .rsa, kid: "ec")) == 401)
        #expect(try await status(Tokens.token(claims, .rsa, kid: nil)) == 401)
        #expect(
            try await status(Tokens.token(claims, .secret)) { $0.secret = Data(repeating: 7, count: 32) }
                == 401)
        #expect(try await status(Tokens.token(claims, .secret)) { $0.secret = nil } == 401)
        #expect(try await status(Tokens.token(claims, .rsa)) { $0.keySet = nil } == 401)
    }

    @Test(arguments: ["x", "a.b.c", "..", "Basic dXNlcjpwYXNz", "é.é.é"])
    func `text that is not a token is 401`(_ text: String) async throws {
        #expect(try await status(text) == 401)
        #expect(try await status(text, header: "Authorization") == 401)
    }

    @Test(arguments: [.array([.string("exp")]), .array([]), .string("exp"), .null] as [JWTHeaderField])
    func `a token with critical headers is 401, because the server knows none`(_ crit: JWTHeaderField)
        async throws
    {
        let claims = Tokens.Claims()
        #expect(try await status(Tokens.token(claims, .secret, kid: nil, crit: crit)) == 401)
        #expect(try await status(Tokens.token(claims, .rsa, kid: "rsa", crit: crit)) == 401)
    }

    @Test(arguments: ["1e300", "-1e300", "18446744073709551616", "[{\"y\":1e300}]"])
    func `a large number in the header of a token does not stop the server`(_ number: String) async throws {
        let parts = try await Tokens.token(Tokens.Claims(), .secret).split(separator: ".")
        let header = Data("{\"alg\":\"HS256\",\"x\":\(number)}".utf8).base64URL
        #expect(try await status("\(header).\(parts[1]).\(parts[2])") == 401)
    }

    @Test func `an invalid token is 401 also where no user is needed`() async throws {
        try await withServer({ $0.authentication = try? Tokens.authentication() }) { _, client in
            let reply = try await client.send("GET", "/tables/TodoItem", headers: ["X-ZUMO-AUTH": "x"])
            #expect(reply.status == 401)
            #expect(reply.headers["www-authenticate"] == "Bearer")
            try await #expect(client.get("/tables/TodoItem").status == 200)
        }
    }

    @Test func `a role can be one text or a list`() async throws {
        let tokens = [
            try await Tokens.token(Tokens.RoleClaims(role: "admin"), .secret),
            try await Tokens.token(Tokens.RoleClaims(role: ["editor", "admin"]), .secret),
            try await Tokens.token(Tokens.RoleClaims(roles: ["admin"]), .secret),
            try await Tokens.token(Tokens.RoleClaims(roles: "admin"), .secret),
        ]
        try await withServer({
            $0.tables = [.init("TodoItem", permissions: .init(.admin))]
            $0.authentication = TableServer.Authentication(secret: Tokens.secret)
        }) { _, client in
            for token in tokens {
                let reply = try await client.send(
                    "GET", "/tables/TodoItem", headers: ["X-ZUMO-AUTH": token])
                #expect(reply.status == 200)
            }
        }
    }

    @Test func `keys of unknown kinds in a key set are ignored`() async throws {
        let set = try ItemValue(json: Tokens.keySet)
        guard case .object(var object) = set, case .array(let keys)? = object["keys"] else {
            Issue.record("The key set has no keys.")
            return
        }
        let unknown: [ItemValue] = [
            ["kty": "OKP", "kid": "x", "crv": "Ed448", "x": "AA"],
            ["kty": "RSA", "kid": "y", "alg": "RSA-OAEP-256", "n": "AQAB", "e": "AQAB"],
            ["kty": "new", "kid": "z"], ["kty": "RSA", "n": "AQAB", "e": "AQAB"], "text",
        ]
        object["keys"] = .array(unknown + keys)
        let keySet = ItemValue.object(object).json
        for key in [Tokens.Key.rsa, .ec] {
            let token = try await Tokens.token(Tokens.Claims(), key)
            #expect(try await status(token) { $0.keySet = keySet } == 200)
        }
    }

    @Test(
        arguments: [
            {
                $0.secret = nil; $0.keySet = nil
            }, { $0.secret = Data(repeating: 1, count: 31) },
            { $0.keySet = Data("{".utf8) }, { $0.keySet = Data(#"{"keys":[]}"#.utf8) },
            { $0.keySet = Data(#"{"keys":[{"kty":"oct","kid":"a","k":"AAAA","alg":"HS256"}]}"#.utf8) },
        ] as [@Sendable (inout TableServer.Authentication) -> Void])
    func `keys that cannot be used are an error at the start`(
        _ change: @Sendable (inout TableServer.Authentication) -> Void
    ) async throws {
        let error = await #expect(throws: TableServerError.self) { try await status(nil, change) }
        #expect(error?.code == .configuration)
    }
}

extension Data {
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
