// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What the server said to a call, whatever the status.
package struct RemoteResponse: Sendable {
    /// The HTTP status.
    package let status: Int
    /// The version in a strong `ETag`, without its quotes.
    package let version: String?
    /// The text of `Retry-After`.
    package let retryAfter: String?
    /// The text of `Date`.
    let date: String?
    /// The row or rows in the body.
    package let body: Body
    /// What the server says about a failure, short and without markup.
    package let message: String?
    /// What the answer means.
    let classification: ResponseClassification
    /// Whether a list says that nothing follows it: its dialect names the next page, and there is none.
    var isLastPage = false
    /// The greatest number of bytes that the transport accepts, when the body was longer.
    var exceededLimit: Int?
    /// Which token the call was made with: see ``SyncClient/refreshAuthentication(after:)``.
    package let tokenGeneration: Int

    /// The row or rows in a body.
    package enum Body: Sendable, Hashable {
        /// No row: no body, or one that only tells what went wrong.
        case empty
        /// One row. An answer other than 2xx has a row only when the body has an id.
        case row([String: ItemValue])
        /// A list of rows, and the total count when the server counted.
        case rows([WireObject], count: Int?)
        /// Something else: the reason as a sentence. With a 2xx the server may or may not have acted.
        case unreadable(String)
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
}
