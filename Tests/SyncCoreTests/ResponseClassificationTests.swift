// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// The classification of every combination of status, form of body and kind of request.
@Suite struct ResponseClassificationTests {
    typealias Body = ResponseClassification.BodyForm
    typealias Request = SyncEvent.RequestKind

    private static let writes: [Request] = [.insert, .update, .undelete, .delete]
    private static let json: [Body] = [.row, .rows, .json]

    private func classify(_ status: Int, _ body: Body, _ request: Request) -> ResponseClassification {
        ResponseClassification(status: status, body: body, to: request)
    }

    /// The specified classification, written independently of the code.
    private func expected(_ status: Int, _ body: Body, _ request: Request) -> ResponseClassification {
        let (isWrite, isJSON) = (Self.writes.contains(request), Self.json.contains(body))
        if status == 401 { return .unauthenticated }
        if body == .html || status < 200 || (300...399).contains(status) || status > 599 {
            return .unavailable
        }
        let busy = [407, 408, 425, 429, 502, 503, 504, 511] + Array(520...530)
        if busy.contains(status) { return .unavailable }
        if status < 300 {
            if request == .query { return body == .rows ? .done : .unknown }
            if request == .delete { return body == .unreadable ? .unknown : .done }
            if body == .row { return .done }
            return body == .empty && isWrite ? .unavailable : .unknown
        }
        if status >= 500 { return body == .empty ? .unavailable : .unknown }
        if status == 403 { return isJSON ? .refused : .unavailable }
        if status == 404 || status == 410 {
            if body == .unreadable { return .unknown }
            if request == .insert || request == .query { return status == 404 ? .tableMissing : .refused }
            return .rowMissing
        }
        if status == 409 { return isWrite ? .rowExists : .refused }
        if status == 412 { return isWrite ? .versionMismatch : .refused }
        return body == .unreadable ? .unknown : .refused
    }

    @Test(arguments: Request.allCases, Body.allCases)
    func `each status is classified as specified`(_ request: Request, _ body: Body) {
        for status in 100...599 {
            #expect(
                classify(status, body, request) == expected(status, body, request),
                "\(status) \(body) \(request)")
        }
    }

    @Test(arguments: 100...599) func `an HTML page means that the service is unavailable`(_ status: Int) {
        for request in Request.allCases where status != 401 {
            #expect(classify(status, .html, request) == .unavailable)
        }
    }

    @Test func `a missing route is a missing table only with status 404`() {
        for status in 100...599 {
            for request in Request.allCases {
                for body in Body.allCases {
                    let found = ResponseClassification(
                        status: status, body: body, to: request, namesMissingRoute: true)
                    let usual = classify(status, body, request)
                    #expect(found == (status == 404 ? .tableMissing : usual))
                }
            }
        }
    }

    @Test func `a refusal with 403 and a server error that ask to wait are no responses about the operation`()
    {
        for status in 100...599 {
            for request in Request.allCases {
                for body in Body.allCases {
                    let found = ResponseClassification(
                        status: status, body: body, to: request, asksToWait: true)
                    let isBusy = status == 403 || status >= 500
                    #expect(found == (isBusy ? .unavailable : classify(status, body, request)))
                }
            }
        }
    }

    @Test func `a service that fails with an empty 500 may have failed for the content of the write`() {
        for status in 500...599 {
            for request in Request.allCases {
                for body in Body.allCases {
                    let found = ResponseClassification(
                        status: status, body: body, to: request, failsWithoutBody: true)
                    let isOfWrite = status == 500 && body == .empty && Self.writes.contains(request)
                    #expect(found == (isOfWrite ? .unknown : classify(status, body, request)))
                }
            }
        }
        let asksToWait = ResponseClassification(
            status: 500, body: .empty, to: .insert, asksToWait: true, failsWithoutBody: true)
        #expect(asksToWait == .unavailable)
    }

    @Test func `only transient statuses are retried at once`() {
        for status in [408, 425, 429, 500, 502, 503, 504] {
            #expect(classify(status, .json, .insert).isTransient(status: status))
        }
        #expect(classify(200, .unreadable, .insert).isTransient(status: 200))
        for status in [301, 302, 307, 403, 407, 511] {
            #expect(!classify(status, .html, .insert).isTransient(status: status))
        }
        #expect(!classify(200, .html, .insert).isTransient(status: 200))
        #expect(!classify(400, .json, .insert).isTransient(status: 400))
    }
}
