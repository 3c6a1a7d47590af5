// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Expects that the body throws a ``SyncError`` with that code, and returns the error.
@discardableResult
func expectError(
    _ code: SyncError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> SyncError? {
    do {
        try await body()
        Issue.record(
            "Expected an error with code \(code.rawValue), but none was thrown",
            sourceLocation: sourceLocation)
    } catch let error as SyncError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
}

extension Scenario {
    /// Expects that the device has the server's rows, and neither pending operations nor errors.
    func expectAgreement(_ device: Device, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let rows = try server.rows(in: Todo.name).filter { !$0.deleted }
        let expected = Dictionary(
            uniqueKeysWithValues: rows.map { (UTF8Text($0.id), Self.comparable($0.fields)) })
        let items = try await device.table.items()
        let actual = Dictionary(
            uniqueKeysWithValues: items.map { item in
                (UTF8Text(item.id), Self.comparable(item.fields.filter { $0.key != Todo.note.name }))
            })
        #expect(actual == expected, sourceLocation: sourceLocation)
        let versions = Dictionary(uniqueKeysWithValues: rows.map { (UTF8Text($0.id), $0.version) })
        #expect(
            items.allSatisfy { $0.system.version == versions[UTF8Text($0.id)] },
            sourceLocation: sourceLocation)
        #expect(try await device.operations().isEmpty, sourceLocation: sourceLocation)
        #expect(try await device.context.operationErrors().isEmpty, sourceLocation: sourceLocation)
    }

    /// Returns the fields as JSON text, without nulls: to the server a null equals a missing field.
    private static func comparable(_ fields: [String: ItemValue]) -> [String: String] {
        fields.filter { !$0.value.isNull }.mapValues { String(decoding: $0.json, as: UTF8.self) }
    }
}
