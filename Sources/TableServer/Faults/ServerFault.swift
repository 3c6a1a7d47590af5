// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SyncCore

/// A fault of the server on one request, for tests of a client's error handling.
public struct ServerFault: Sendable {
    /// A response that a test defines.
    struct ScriptedResponse: Sendable {
        /// The status.
        var status: Int
        /// The headers; `Content-Length` is added.
        var headers: [String: String]
        /// The body.
        var body: Data

        init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    indirect enum Kind: Sendable {
        case none
        case dropRequest
        case dropResponse
        case respond(ScriptedResponse, appliesRequest: Bool)
        case truncate(Int)
        case editRows(@Sendable ([ItemValue]) -> [ItemValue])
        case applyTwice(sendsFirstResponse: Bool)
        case hold(RequestGate, then: Kind)
        case commitLate(RequestGate)
    }

    let kind: Kind

    /// Handles the request normally.
    public static let none = ServerFault(kind: .none)

    /// Closes the connection without a response. The request is not applied.
    public static let dropRequest = ServerFault(kind: .dropRequest)

    /// Applies the request, then closes the connection without a response.
    public static let dropAnswer = ServerFault(kind: .dropResponse)

    /// Sends this response. The request is not applied.
    public static func answer(
        status: Int, headers: [String: String] = [:], body: Data = Data()
    ) -> ServerFault {
        let response = ScriptedResponse(status: status, headers: headers, body: body)
        return ServerFault(kind: .respond(response, appliesRequest: false))
    }

    /// Applies the request and sends this response instead of the real one, such as a 503 after the commit or a 200
    /// with an unreadable body.
    public static func applyThenAnswer(
        status: Int, headers: [String: String] = [:], body: Data = Data()
    ) -> ServerFault {
        let response = ScriptedResponse(status: status, headers: headers, body: body)
        return ServerFault(kind: .respond(response, appliesRequest: true))
    }

    /// Applies the request and closes the connection after the first `count` bytes of the response body.
    public static func truncateAnswer(afterBytes count: Int) -> ServerFault {
        ServerFault(kind: .truncate(count))
    }

    /// Edits the rows of a list response: the closure can remove, add and change rows.
    public static func editRows(_ edit: @escaping @Sendable ([ItemValue]) -> [ItemValue]) -> ServerFault {
        ServerFault(kind: .editRows(edit))
    }

    /// Applies the request twice, as after a retry by a proxy, and sends the second response.
    public static let applyTwice = ServerFault(kind: .applyTwice(sendsFirstResponse: false))

    /// Applies the request twice and sends the first response.
    public static let applyTwiceAnswerFirst = ServerFault(kind: .applyTwice(sendsFirstResponse: true))

    /// Suspends the request at the gate before it is applied; then the other fault happens.
    public static func hold(_ gate: RequestGate, then fault: ServerFault = .none) -> ServerFault {
        ServerFault(kind: .hold(gate, then: fault.kind))
    }

    /// Simulates a slow transaction: the changes get the time of arrival as `updatedAt`, and are committed and
    /// confirmed when the gate opens.
    public static func commitLate(_ gate: RequestGate) -> ServerFault {
        ServerFault(kind: .commitLate(gate))
    }
}
