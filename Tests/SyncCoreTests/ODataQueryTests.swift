// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import Testing

struct ODataQueryTests {
    private func text(_ query: TableQuery, _ dialect: WireDialect = .v2) throws -> String {
        try query.odata(dialect).map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    @Test func `an empty query has no options`() throws {
        #expect(try text(TableQuery("T")).isEmpty)
    }

    @Test func `options have a fixed order`() throws {
        let query = TableQuery("T").where(.column("a") == 1).where(.column("b") == 2).order(by: "a").order(
            byDescending: "updatedAt"
        )
        .offset(10).limit(0).select("a", "b", "a", "id").includingTotalCount().parameter("p", "q")
        #expect(
            try text(query) == "$filter=a eq 1 and b eq 2&$orderby=a,updatedAt desc&$skip=10&$top=0"
                + "&$select=id,a,b,createdAt,updatedAt,version,deleted&$inlinecount=allpages")
        #expect(
            try text(query, .v1) == "$filter=a eq 1 and b eq 2&$orderby=a,__updatedAt desc&$skip=10&$top=0"
                + "&$select=id,a,b&$inlinecount=allpages")
        // The Datasync toolkit has no `createdAt`, and answers 400 to a name that it does not know.
        #expect(
            try text(query, .v3) == "$filter=a eq 1 and b eq 2&$orderby=a,updatedAt desc&$skip=10&$top=0"
                + "&$select=id,a,b,updatedAt,version,deleted&$count=true")
    }

    @Test func `an invalid query is refused`() {
        let refusals: [(TableQuery, SyncError.Code)] = [
            (TableQuery("T").offset(-1), .invalidParameter),
            (TableQuery("T").limit(-1), .invalidParameter),
            (
                TableQuery("T").order(by: SyncCore.FilterExpression.lowercased(.column("a"))),
                .filterNotSupported
            ),
            (TableQuery("T").order(by: "id; DROP TABLE"), .filterNotSupported),
            (TableQuery("T").order(by: "a desc,b"), .filterNotSupported),
            (TableQuery("T").select("a,b"), .filterNotSupported),
        ]
        for (query, code) in refusals {
            let error = #expect(throws: SyncError.self) { try query.odata(.v2) }
            #expect(error?.code == code)
        }
    }

    @Test(arguments: [
        "O'Brien", "a&$top=1", "#", "%", "%27", "a+b", "a/b?c=d", "\u{1F600}", "e\u{301}", "é", "\u{0}\r\n",
        "",
        "'\u{301}", "a;b", "~-._", "\u{202E}",
    ])
    func `a URL preserves any text`(value: String) async throws {
        let transport = ScriptedTransport(200, "[]")
        let query = TableQuery("T").where(.column("a") == value).parameter("user", value)
        _ = try await SyncClient.scripted(transport).table("T").query(query)
        let url = try #require(transport.requests.first?.head.url)
        let items = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems)
        #expect(items.map(\.name) == ["$filter", "user"])
        let expected = try "a".odataFilter(equalTo: value)
        #expect(Array((items[0].value ?? "").utf8) == Array(expected.utf8))
        #expect(Array((items[1].value ?? "").utf8) == Array(value.utf8))
        #expect(!url.absoluteString.contains("+"))
    }

    @Test(arguments: [("a/b", "a%2Fb"), ("%", "%25"), ("ü'", "%C3%BC%27"), ("a-._~Z9", "a-._~Z9"), ("", "")])
    func `percent-encoding keeps only unreserved characters`(text: String, encoded: String) {
        #expect(text.percentEncoded == encoded)
    }
}

extension String {
    /// Returns the OData filter that compares the column of this name with the value, with doubled quotes.
    fileprivate func odataFilter(equalTo value: String) throws -> String {
        let doubled = value.utf8.flatMap { $0 == UInt8(ascii: "'") ? [$0, $0] : [$0] }
        return self + " eq '" + String(decoding: doubled, as: UTF8.self) + "'"
    }
}
