// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SyncCore

/// What a server does wrong with one request, so that a client's answer to it can be tested.
public struct ServerFault: Sendable {
    /// An answer made up by a test.
    struct MadeUpAnswer: Sendable {
        /// The status.
        var status: Int
        /// The headers; `Content-Length` is added.
        var headers: [String: String]
        /// The body.
        var body: Data

        /// Makes an answer.
        init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    indirect enum Kind: Sendable {
        case none
        case dropRequest
        case dropAnswer
        case answer(MadeUpAnswer, appliesFirst: Bool)
        case truncate(Int)
        case editRows(@Sendable ([ItemValue]) -> [ItemValue])
        case applyTwice(answersFirst: Bool)
        case hold(RequestGate, then: Kind)
        case commitLate(RequestGate)
    }

    let kind: Kind

    /// The request is handled as it should be.
    public static let none = ServerFault(kind: .none)

    /// The connection closes without an answer, and nothing is applied.
    public static let dropRequest = ServerFault(kind: .dropRequest)

    /// The request is applied, then the connection closes without an answer.
    public static let dropAnswer = ServerFault(kind: .dropAnswer)

    /// Nothing is applied, and the answer is this one.
    public static func answer(
        status: Int, headers: [String: String] = [:], body: Data = Data()
    ) -> ServerFault {
        let answer = MadeUpAnswer(status: status, headers: headers, body: body)
        return ServerFault(kind: .answer(answer, appliesFirst: false))
    }

    /// The request is applied, but the answer is this one: a 503 after the commit, or a 200 that cannot be read.
    public static func applyThenAnswer(
        status: Int, headers: [String: String] = [:], body: Data = Data()
    ) -> ServerFault {
        let answer = MadeUpAnswer(status: status, headers: headers, body: body)
        return ServerFault(kind: .answer(answer, appliesFirst: true))
    }

    /// The request is applied, but only that many bytes of the answer's body are sent before the connection closes.
    public static func truncateAnswer(afterBytes count: Int) -> ServerFault {
        ServerFault(kind: .truncate(count))
    }

    /// A list is answered with other rows than it has: fewer, more, or changed ones.
    public static func editRows(_ edit: @escaping @Sendable ([ItemValue]) -> [ItemValue]) -> ServerFault {
        ServerFault(kind: .editRows(edit))
    }

    /// The request is applied twice, as when something on the way repeats it; the client sees the second answer.
    public static let applyTwice = ServerFault(kind: .applyTwice(answersFirst: false))

    /// The request is applied twice, and the client sees the first answer.
    public static let applyTwiceAnswerFirst = ServerFault(kind: .applyTwice(answersFirst: true))

    /// The request waits at the gate before anything is applied, then meets the other fault.
    public static func hold(_ gate: RequestGate, then fault: ServerFault = .none) -> ServerFault {
        ServerFault(kind: .hold(gate, then: fault.kind))
    }

    /// A slow transaction: its changes are stamped with the time of arrival, and become visible and answered only
    /// when the gate opens.
    public static func commitLate(_ gate: RequestGate) -> ServerFault {
        ServerFault(kind: .commitLate(gate))
    }
}
