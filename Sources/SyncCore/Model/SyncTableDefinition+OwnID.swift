// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncTableDefinition {
    /// Converts the fields of a local write to the types of their columns. If the item's id is among them, it is left out.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID`` when the fields have another id, because an
    ///   item's id cannot be changed; otherwise as ``normalizedForWriting(_:skipsID:)``.
    func normalizedForWriting(_ fields: ItemFields, of id: String) throws(SyncError) -> ItemFields {
        guard let value = fields["id"] else { return try normalizedForWriting(fields) }
        guard value == .text(id) else {
            throw SyncError(
                .invalidItemID,
                "The id of the item '\(id)' in '\(name)' cannot be changed. Insert an item with the new id, and delete "
                    + "this one.")
        }
        return try normalizedForWriting(fields, skipsID: true)
    }
}
