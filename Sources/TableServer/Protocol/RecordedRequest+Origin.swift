// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension RecordedRequest {
    /// Whether a web page of another site can have sent this write without the consent of a server.
    ///
    /// Browsers send a POST with none but the usual headers from any page to any address, also to a server that only this
    /// machine reaches. For other methods and headers they ask first, with OPTIONS, which this server does not answer; a proxy that
    /// does so has decided.
    var isCrossSiteWrite: Bool {
        guard method == "POST", let origin = header("Origin"), !isFromOrigin(origin) else { return false }
        let asksFirst = headers.contains { Self.headersAfterQuestion.contains($0.name.asciiLowercased) }
        return !asksFirst && !hasJSONContentType
    }

    /// The headers of the protocol for which a browser asks first.
    private static let headersAfterQuestion: Set = [
        "authorization", "if-match", "if-none-match", "x-zumo-application", "x-zumo-auth",
        "x-zumo-features", "x-zumo-installation-id", "zumo-api-version",
    ]

    /// Whether the page is of this server: an origin is a scheme and the value of `Host`.
    private func isFromOrigin(_ origin: String) -> Bool {
        guard let host = header("Host")?.asciiLowercased else { return false }
        return ["http://", "https://"].contains { origin.asciiLowercased == $0 + host }
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
}
