// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A response of the server, of any status.
package struct RemoteResponse: Sendable {
    /// The HTTP status.
    package let status: Int
    /// The version in a strong `ETag`, without its quotes.
    package let version: String?
    /// The text of `Retry-After`; a date as seconds since ``date``.
    package let retryAfter: String?
    /// The text of `Date`.
    let date: String?
    /// The row or rows in the body.
    package let body: Body
    /// The server's message about a failure, short and without markup.
    package let message: String?
    /// The meaning of the response.
    let classification: ResponseClassification
    /// What a list says about the next page.
    var nextPage = NextPage.unknown
    /// Whether the row in the body lacks values that are not valid JSON.
    var lacksMalformedValues = false
    /// The transport's limit in bytes, if the body was longer.
    var exceededLimit: Int?
    /// Whether middleware has sent the request again although the server may have received it before.
    var isOfRepeatedRequest = false
    /// The generation of the token that the request was sent with: see ``SyncClient/refreshAuthentication(after:)``.
    package let tokenGeneration: Int

    /// The row or rows in a body.
    package enum Body: Sendable, Hashable {
        /// No row: no body, or an error message.
        case empty
        /// One row. In a response other than 2xx, the body is a row only if it has an id.
        case row([String: ItemValue])
        /// A list of rows, and the total count if the server returned it.
        case rows([WireObject], count: Int?)
        /// The events of a change feed.
        case change(ServerChange?)
        /// Anything else, with the reason as a sentence. With a 2xx the server may or may not have applied the request.
        case unreadable(String)
    }

    /// Whether the status is a success.
    package var isSuccess: Bool { ResponseClassification.isSuccess(status) }
}
