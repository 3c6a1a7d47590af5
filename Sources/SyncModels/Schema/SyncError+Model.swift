// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension SyncError {
    static func notEncodable<Model: SyncModel>(
        _ path: PartialKeyPath<Model>, column: String, _ id: String, _ cause: any Error
    ) -> SyncError {
        var reason = "\(cause)"
        if case EncodingError.invalidValue(_, let context) = cause { reason = context.debugDescription }
        if reason.hasSuffix(".") { reason.removeLast() }
        return SyncError(
            .invalidItem,
            "\(path.qualifiedName) of '\(id)' cannot be stored in the column '\(column)': \(reason). "
                + "Nothing was changed.",
            cause: cause)
    }

    static func notWritable<Model: SyncModel>(
        _ path: PartialKeyPath<Model>, _ reason: String, _ id: String
    ) -> SyncError {
        SyncError(
            .invalidItem,
            "\(path.qualifiedName) of '\(id)' cannot be changed: \(reason). Nothing was changed.")
    }

    static func modelNotFound<Model: SyncModel>(_ id: SyncID<Model>) -> SyncError {
        SyncError(
            .itemNotFound,
            "There is no \(Model.self) '\(id)' in '\(Model.tableName)'. It was deleted, or never inserted.")
    }

    /// Names the model in the error of a table that the store was not opened with.
    func naming(_ model: String?) -> SyncError {
        guard code == .unknownTable, let model else { return self }
        return SyncError(
            .unknownTable, "\(message) Add \(model).self to the models that the store is opened with.",
            cause: cause)
    }

    /// Names the model in the error of a table that the store was not opened with.
    func naming(_ model: any SyncModel.Type) -> SyncError { naming("\(model)") }
}
