// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncTableDefinition {
    /// The fields of a local write of the item of that id, each converted to its column's type. The id may be among
    /// them, and is left out.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID`` when the fields have another id, because an
    ///   item's id cannot be changed; otherwise as ``normalizedForWriting(_:)``.
    func normalizedForWriting(_ fields: [String: ItemValue], of id: String) throws(SyncError) -> [String:
        ItemValue]
    {
        guard let value = fields["id"] else { return try normalizedForWriting(fields) }
        guard value == .text(id) else {
            throw SyncError(
                .invalidItemID,
                "The id of the item '\(id)' in '\(name)' cannot be changed. Insert an item with the new id, and delete "
                    + "this one.")
        }
        var ownFields = fields
        ownFields["id"] = nil
        return try normalizedForWriting(ownFields)
    }
}
