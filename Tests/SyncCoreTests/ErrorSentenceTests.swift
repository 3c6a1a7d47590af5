// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreMemory
import Testing

@testable import SyncCore

/// The sentences that errors print, each as a whole.
struct ErrorSentenceTests {
    private static func operation(_ kind: TableOperation.Kind, serverItem: Item? = nil) -> TableOperation {
        TableOperation(id: 7, table: "Todo", itemID: "x", kind: kind, serverItem: serverItem)
    }

    private static func conflict(_ kind: TableOperation.Kind, isDeleted: Bool = false) -> TableOperationError
    {
        let row = Item(id: "x", fields: ["text": "secret"], system: SystemProperties(deleted: isDeleted))
        return .foundByPull(operation(kind, serverItem: row), item: nil)
    }

    private static func missingRow() -> TableOperationError {
        let message = ConflictMessage.text(.itemNotOnServer, serverItem: nil)
        return TableOperationError(operation(.update), item: nil, code: .itemNotOnServer, message: message)
    }

    private static let sentences: [(any Error, String)] = [
        (
            conflict(.insert),
            "insert of 'x' in 'Todo': The server already has a row with this id. (itemAlreadyOnServer, code -2008)"
        ),
        (
            conflict(.insert, isDeleted: true),
            "insert of 'x' in 'Todo': The server already has a deleted row with this id. "
                + "(itemAlreadyOnServer, code -2008)"
        ),
        (
            conflict(.update),
            "update of 'x' in 'Todo': The row with this id was changed on the server since it was read. "
                + "(preconditionFailed, code -1303)"
        ),
        (
            conflict(.delete, isDeleted: true),
            "delete of 'x' in 'Todo': The row with this id was deleted on the server since it was read. "
                + "(preconditionFailed, code -1303)"
        ),
        (
            missingRow(),
            "update of 'x' in 'Todo': The server has no row with this id. (itemNotOnServer, code -2009)"
        ),
        (
            TableOperationError.undeclaredTable(operation(.delete)),
            "delete of 'x' in 'Todo': The store was opened without the table 'Todo'. (unknownTable, code -2003)"
        ),
        (ServerConflict(item: Item(id: "x")), "The server has another state of the row 'x'."),
        (ServerConflict(item: nil), "The server has another state of the row."),
        (StoreError(.full, "The disk is full."), "The disk is full. (store error: full)"),
        (
            SyncError.storeFailure(StoreError(.full, "The disk is full.")),
            "The local store failed: The disk is full. (storeFailure, code -1153) Cause: (store error: full)"
        ),
        (
            PushEnding.pushError(for: SyncError.storeFailure(StoreError(.full, "The disk is full."))),
            "The push ended because the local store failed: The disk is full. (pushAbortedStore, code -1171) "
                + "Cause: (store error: full)"
        ),
        (
            PushEnding.lockFailed(StoreError(.inputOutput, "The file cannot be locked.")),
            "The store cannot be locked for a push: The file cannot be locked. (pushAbortedStore, code -1171) "
                + "Cause: (store error: inputOutput)"
        ),
        (
            PushFailure(result: PushResult(), underlying: nil), ""
        ),
        (
            NetworkFailure(.timedOut, host: "h", port: 1), "The request to h:1 failed: timedOut."
        ),
    ]

    @Test func `each error prints its sentence, its code and its cause once`() {
        for (error, sentence) in Self.sentences { #expect("\(error)" == sentence) }
    }

    @Test func `the localized description is the sentence without the code`() {
        func description(_ error: any Error) -> String { error.localizedDescription }
        #expect(description(StoreError(.full, "The disk is full.")) == "The disk is full.")
        #expect(description(Self.missingRow()) == "The server has no row with this id.")
        let failure = NetworkFailure(.timedOut, host: "h", port: 1)
        #expect(description(failure) == "The server h:1 did not respond in time. Try again later.")
        #expect(description(SyncError(failure)) == description(failure))
        #expect(description(ServerConflict(item: nil)) == "The server has another state of the row.")
        let jsonError = JSONError(offset: 3, problem: "expected ':'")
        #expect(description(jsonError) == "Invalid JSON at byte 3: expected ':'.")
        let limit = HTTPBodyLimitExceeded(status: 200, limit: 9)
        #expect(
            description(limit)
                == "The body of the response with status 200 is longer than the 9 bytes that the transport accepts."
        )
    }

    @Test func `the error of a missing table shows no secret of a URL`() throws {
        let url = try #require(URL(string: "https://user:CANARY@example.com/api?key=CANARY#CANARY"))
        let message = RefusalMessage.text(
            .tableNotOnServer, status: 404, message: nil, table: "T", below: url)
        #expect(message.contains("the client's URL 'https://example.com/api'."))
    }

    @Test func `a push that ends without another cause describes the error that ended it`() async throws {
        let context = SyncContext(
            client: try SyncClient.scripted(ScriptedTransport(200), url: "ftp://example.com"),
            dataSource: try MemoryStore(tables: [SyncTableDefinition("T", columns: [])]))
        try await context.table("T").insert([:])
        let thrown = await #expect(throws: SyncError.self) { try await context.push() }
        let error = try #require(thrown)
        let failure = try #require(error.cause as? PushFailure)
        let sentence = """
            The client's URL is not valid: it must begin with http:// or https://. (invalidConfiguration, code -2020)
            """
        #expect("\(failure)" == sentence)
        #expect(failure.localizedDescription == sentence)
        #expect("\(error)" == sentence)
        #expect(error.pushResult?.abortReason?.code == .invalidConfiguration)
        try await context.close()
    }

    @Test func `an error of another type than the store's is not part of the message`() {
        struct Failure: Error, CustomStringConvertible { let description = "text = 'secret'" }
        #expect(SyncError.storeFailure(Failure()).message == "The local store failed.")
    }

    @Test func `a failing store is named in the message of the call`() async throws {
        let table = SyncTableDefinition("T", columns: [SyncColumn("n", .integer)])
        let store = FaultingStore(try MemoryStore(tables: [table]))
        let context = SyncContext(
            client: try SyncClient.scripted(ScriptedTransport(200)), dataSource: store)
        store.faults.failingChange = store.calls.changes + 1
        let error = await #expect(throws: SyncError.self) { try await context.table("T").insert(["n": 1]) }
        #expect(error?.code == .storeFailure)
        #expect(error?.message == "The local store failed: \((error?.cause as? StoreError)?.message ?? "")")
    }
}
