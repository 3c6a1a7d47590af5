// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension RecordedRequest {
    /// Whether a web page of another site can have sent this write without the consent of a server.
    ///
    /// Browsers send a POST with none but the usual headers from any page to any address, also to a server that only this
    /// machine reaches. For other methods and headers they ask first, with OPTIONS, which this server does not answer; a proxy that
    /// does so has decided.
    var isCrossSiteWrite: Bool {
        guard method == "POST", let origin = header("Origin"), !isFromOrigin(origin) else { return false }
        let asksFirst = headers.contains { Self.headersAfterQuestion.contains($0.name.asciiLowercased) }
        return !asksFirst && !hasBearerToken && !hasJSONContentType
    }

    /// The headers of the protocol for which a browser asks first.
    private static let headersAfterQuestion: Set = [
        "if-match", "if-none-match", "x-zumo-application", "x-zumo-auth", "x-zumo-features",
        "x-zumo-installation-id", "zumo-api-version",
    ]

    /// Whether `Authorization` has a token, for which a browser asks first. Credentials of other schemes it adds by itself.
    private var hasBearerToken: Bool {
        headers.contains { header in
            header.name.hasSameName(as: "Authorization")
                && header.value.split(separator: " ").first?.hasSameName(as: "Bearer") == true
        }
    }

    /// Whether the page is of this server: an origin is a scheme and the value of `Host`.
    private func isFromOrigin(_ origin: String) -> Bool {
        guard let host = header("Host")?.asciiLowercased else { return false }
        return ["http://", "https://"].contains { origin.asciiLowercased == $0 + host }
    }

    /// Whether a page has probably sent the request to a name that its site lets resolve to this machine (DNS rebinding).
    /// The browser takes the page and a server that only this machine reaches for one site.
    ///
    /// A proxy on this machine has another name too, and adds `Via`. A page can set `X-Forwarded-For`, but not `Via`.
    ///
    /// - Parameter host: the host in the configuration of the server, which no site has chosen.
    func isRebound(servedAs host: String) -> Bool {
        !isForThisMachine && hostName?.hasSameName(as: host) != true && isFromBrowser && header("Via") == nil
    }

    /// Browsers send `Origin` with writes, and `Sec-Fetch-Site` only over TLS and to `localhost`. Their `User-Agent` begins
    /// with `Mozilla/`.
    private var isFromBrowser: Bool {
        header("Origin") != nil || header("Sec-Fetch-Site") != nil
            || header("User-Agent")?.hasPrefix("Mozilla/") == true
    }

    /// Whether the client has asked for this machine by a loopback name or address.
    var isForThisMachine: Bool { hostName.map { $0 == Self.loopbackAddress || $0.isLoopbackHost } ?? false }

    private static let loopbackAddress = "[::1]"

    /// The name or address in `Host`, without the port; `nil` if there is none, or another address of IPv6.
    private var hostName: String? {
        guard let host = header("Host") else { return nil }
        let name =
            host.hasPrefix(Self.loopbackAddress) ? Self.loopbackAddress : String(host.prefix { $0 != ":" })
        let port = host.dropFirst(name.count)
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        return name
    }

    private var hasJSONContentType: Bool {
        let type = header("Content-Type")?.split(separator: ";").first ?? ""
        return String(type).trimmingCharacters(in: .whitespaces).asciiLowercased == "application/json"
    }
}

extension RequestError {
    static let crossSiteWrite = RequestError(
        status: 403,
        message:
            "A page of another site cannot write: send the header ZUMO-API-VERSION or Content-Type: application/json."
    )
    static let rebound = RequestError(
        status: 403,
        message:
            "The header Host names another machine: use localhost or 127.0.0.1, or let the proxy add the header Via."
    )
}

extension String {
    /// Whether a host is a name or an address by which only this machine reaches itself.
    var isLoopbackHost: Bool {
        let host = asciiLowercased
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { $0.utf8.allSatisfy(\.isASCIIDigit) && UInt8($0) != nil }
    }
}
