// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreMemory
@_spi(StoreAuthor) import SyncCore
import Testing

struct SyncErrorTests {
    @Test func `an error code prints its name and number`() {
        #expect("\(SyncError.Code.pushAbortedNetwork)" == "pushAbortedNetwork (-1172)")
        #expect("\(SyncError.Code.invalidConfiguration)" == "invalidConfiguration (-2020)")
        #expect("\(SyncError.Code(rawValue: -1172))" == "pushAbortedNetwork (-1172)")
        #expect("\(SyncError.Code(rawValue: 7))" == "7")
    }

    @Test func `an error prints its message, the name of its code and its cause`() {
        let error = SyncError(.storeFailure, "The store failed.", cause: SyncError(.invalidItem, "Bad."))
        #expect(
            "\(error)" == "The store failed. (storeFailure, code -1153) Cause: Bad. (invalidItem, code -1103)"
        )
    }

    @Test func `the localized description is the message`() {
        let error: any Error = SyncError(.itemNotFound, "The item 'a' does not exist.")
        #expect(error.localizedDescription == "The item 'a' does not exist.")
        #expect(SyncError(.authenticationRequired, "x").recoverySuggestion?.contains("Sign in") == true)
        #expect(SyncError(.itemNotFound, "x").recoverySuggestion == nil)
    }

    @Test func `isOffline also follows the causes`() {
        let refused = SyncError(NetworkFailure(.connectionRefused, host: "h", port: 1))
        #expect(refused.isOffline)
        #expect(SyncError(.pullAborted, "x", cause: refused).isOffline)
        #expect(SyncError(.pushAbortedNetwork, "x", cause: refused.cause).isOffline)
        #expect(SyncError(.pushAbortedNetwork, "x").isOffline)
        let untrusted = SyncError(NetworkFailure(.secureConnectionFailed, host: "h", port: 1))
        #expect(!SyncError(.pullAborted, "x", cause: untrusted).isOffline)
        #expect(!SyncError(.pushAbortedAuthentication, "x").isOffline)
        #expect(!SyncError(.pullAborted, "x", cause: CocoaError(.fileNoSuchFile)).isOffline)
    }

    @Test func `a pull suggests the same beside the failures of a push`() {
        let cause = SyncError(.authenticationRequired, "The server requires the user to sign in.")
        let pull = SyncError(.pullAborted, "The pull ended early: \(cause.message)", cause: cause)
        #expect(pull.recoverySuggestion?.hasPrefix("Sign in again") == true)
        #expect(pull.with(PushResult()).recoverySuggestion == pull.recoverySuggestion)
        #expect("\(pull.with(PushResult()))".components(separatedBy: "requires the user").count == 2)
    }

    @Test func `a request, a push and a pull without connection suggest the same`() {
        let request = SyncError(NetworkFailure(.connectionRefused, host: "h", port: 1))
        let push = SyncError(.pushAbortedNetwork, "x", cause: request.cause, mayRetry: true)
        let pull = SyncError(.pullAborted, "x", cause: request, mayRetry: true)
        for error in [request, push, pull] {
            let suggestion = error.recoverySuggestion
            #expect(suggestion == "Check the connection and try again. Local changes are kept.")
        }
        #expect(SyncError(.pullAborted, "x", mayRetry: true).recoverySuggestion == "Try again later.")
        #expect(SyncError(.pullAborted, "x").recoverySuggestion == nil)
    }

    @Test func `the error of a push without network is offline and prints the server`()
        async throws
    {
        let transport = ScriptedTransport { _ in
            throw NetworkFailure(.unknownHost, host: "example.com", port: 443)
        }
        let context = SyncContext(
            client: try SyncClient.scripted(transport),
            dataSource: try MemoryStore(tables: [
                SyncTableDefinition("T", columns: [SyncColumn("n", .integer)])
            ]))
        _ = try await context.table("T").insert(["n": 1])
        let error = await #expect(throws: SyncError.self) { try await context.push() }
        #expect(error?.code == .pushAbortedNetwork)
        #expect(error?.isOffline == true)
        #expect(error?.message.contains("'example.com' (port 443)") == true)
        let text = error.map { "\($0)" }
        #expect(text?.contains("The request to example.com:443 failed: unknownHost.") == true)
        try await context.close()
    }

    @Test(arguments: [(StoreError.Code.unavailable, true), (.full, false), (.inputOutput, false)])
    func `a call may be repeated whose store is not available at the moment`(
        _ code: StoreError.Code, _ mayRetry: Bool
    ) async throws {
        let table = SyncTableDefinition("T", columns: [SyncColumn("n", .integer)])
        let store = FaultingStore(try MemoryStore(tables: [table]))
        store.faults.error = StoreError(code, "The store has failed.")
        let context = SyncContext(
            client: try SyncClient.scripted(ScriptedTransport(200)), dataSource: store)
        store.faults.failingRead = store.calls.reads + 1
        let error = await #expect(throws: SyncError.self) { try await context.pendingOperationCount() }
        #expect(error?.code == .storeFailure)
        #expect(error?.mayRetry == mayRetry)
        store.faults.failingRead = store.calls.reads + 1
        let pushError = await #expect(throws: SyncError.self) { try await context.push() }
        #expect(pushError?.code == .pushAbortedStore)
        #expect(pushError?.mayRetry == mayRetry)
        try await context.close()
    }

    @Test func `a 401 response is the cause, with the server's message`() async throws {
        let client = try SyncClient.scripted(ScriptedTransport(401, #"{"error":"token expired"}"#))
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .authenticationRequired)
        let cause = try #require(error?.cause as? SyncError)
        #expect(cause.message.contains("401"))
        #expect(cause.message.contains("token expired"))
    }

    @Test(arguments: [
        ("ftp://example.com", "http://"), ("https://example.com?a=b", "query"),
        ("https://u@example.com", "user name"), ("https:///a", "host"),
        ("https://example.com:65536", "65535"),
    ])
    func `an invalid client URL is a configuration error that names the problem`(
        url: String, problem: String
    ) async throws {
        let transport = ScriptedTransport(200)
        let client = try SyncClient.scripted(transport, url: url)
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.mayRetry == false)
        #expect(error?.message.contains(problem) == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func `plain HTTP to a remote host is a configuration error`() async throws {
        let url = try #require(URL(string: "http://example.com"))
        let client = SyncClient(url: url)
        let error = await #expect(throws: SyncError.self) { try await client.table("T").read(id: "a") }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("allowsInsecureHTTP: true") == true)
    }

    @Test(arguments: [
        (-1102, SyncError.Code.invalidItem), (-1104, .invalidItemID), (-1108, .invalidRequest),
        (-1103, .invalidItem), (-1105, .invalidItemID), (-1303, .preconditionFailed),
        (-7, .init(rawValue: -7)),
    ])
    func `the number of a code in an error log keeps its meaning`(_ number: Int, _ code: SyncError.Code)
        throws
    {
        let json = #"{"code":\#(number),"itemId":"x","kind":"insert","message":"m","revision":1,"table":"T"}"#
        let error = try TableOperationError(operationID: 1, storedProperties: Data(json.utf8))
        #expect(error.code == code)
    }
}
