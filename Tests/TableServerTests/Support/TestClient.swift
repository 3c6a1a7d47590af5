// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An HTTP client over URLSession, without the framework.
final class TestClient: Sendable {
    private let url: URL
    private let session: URLSession

    convenience init(_ server: TableServer) {
        self.init(server.url)
    }

    init(_ url: URL) {
        self.url = url
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // A slow machine that is busy with other tests takes long to respond.
        configuration.timeoutIntervalForRequest = 1200
        session = URLSession(configuration: configuration)
    }

    deinit {
        session.invalidateAndCancel()
    }

    /// A response.
    struct Reply: Sendable {
        let status: Int
        let headers: [String: String]
        let body: Data

        var json: ItemValue? { try? ItemValue(json: body) }
        var text: String { String(decoding: body, as: UTF8.self) }
        var etag: String? { headers["etag"] }

        /// The items of a list response.
        var items: [ItemValue] {
            switch json {
            case .array(let items): items
            case .object(let object):
                if case .array(let items)? = object["items"] ?? object["results"] { items } else { [] }
            default: []
            }
        }

        var ids: [String] { items.compactMap { $0["id"]?.textValue } }

        subscript(name: String) -> ItemValue? { json?[name] }
    }

    /// Sends a request of that dialect. `path` begins with the table.
    func send(
        _ dialect: TableServer.Dialect, _ method: String, _ path: String, _ body: ItemValue? = nil
    ) async throws -> Reply {
        let header =
            switch dialect {
            case .v1: ["X-ZUMO-APPLICATION": "key"]
            case .v2: ["ZUMO-API-VERSION": "2.0.0"]
            case .v3: ["ZUMO-API-VERSION": "3.0.0"]
            }
        return try await send(method, "/tables/\(path)", body, headers: header, apiVersion: nil)
    }

    /// Sends a request. The caller percent-encodes `path`.
    func send(
        _ method: String, _ path: String, _ body: ItemValue? = nil, headers: [String: String] = [:],
        apiVersion: String? = "2.0.0"
    ) async throws -> Reply {
        try await send(method, path, data: body?.json, headers: headers, apiVersion: apiVersion)
    }

    func send(
        _ method: String, _ path: String, data: Data?, headers: [String: String] = [:],
        apiVersion: String? = "2.0.0"
    ) async throws -> Reply {
        let target = try #require(URL(string: url.absoluteString + path))
        var request = URLRequest(url: target)
        request.httpMethod = method
        if let apiVersion { request.setValue(apiVersion, forHTTPHeaderField: "ZUMO-API-VERSION") }
        if let data {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = data
        }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (body, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in http.allHeaderFields {
            fields[name.lowercased()] = value
        }
        return Reply(status: http.statusCode, headers: fields, body: body)
    }

    func get(_ path: String) async throws -> Reply { try await send("GET", path) }

    /// Lists a table. The parameters are percent-encoded here.
    func list(_ table: String, _ parameters: [(String, String)] = []) async throws -> Reply {
        let query = parameters.map { "\($0.encoded)=\($1.encoded)" }.joined(separator: "&")
        return try await get("/tables/\(table)?\(query)")
    }

    func insert(_ item: ItemValue, in table: String = "TodoItem") async throws -> Reply {
        try await send("POST", "/tables/\(table)", item)
    }

    func patch(
        _ id: String, _ item: ItemValue, in table: String = "TodoItem", ifMatch: String? = nil
    ) async throws -> Reply {
        try await send(
            "PATCH", "/tables/\(table)/\(id.encoded)", item, headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }

    func delete(
        _ id: String, in table: String = "TodoItem", ifMatch: String? = nil
    ) async throws -> Reply {
        try await send(
            "DELETE", "/tables/\(table)/\(id.encoded)", headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }
}

extension String {
    /// The string, percent-encoded except for letters, digits and `-._~`.
    var encoded: String {
        var allowed = CharacterSet(charactersIn: "a"..."z")
        allowed.insert(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: allowed) ?? self
    }
}

extension ItemValue {
    subscript(name: String) -> ItemValue? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }
}
