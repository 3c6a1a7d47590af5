// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The fields that the item and the server's row had in common when the server applied an attempt: they tell the user's later
/// changes, and those of other clients, apart.
///
/// A change that the app has made in its own database has no base: the item may have had it before the attempt, so that only
/// the fields that were sent are known. Every other field of the item counts as changed; one that it has never had does not,
/// unless the item was inserted again.
struct CommonAncestor {
    /// The fields to merge the item and the row by; a missing one is null.
    let fields: [String: ItemValue]
    /// The fields of the row after the attempt, as far as the device knows.
    let left: [String: ItemValue]
    /// The fields of `left` without those that may be changes of the app which the server never had.
    let certain: [String: ItemValue]
    private let definition: SyncTableDefinition
    private let isKnown: Bool

    /// - Parameters:
    ///   - operation: the operation of the attempt.
    ///   - behind: the operation behind it, if there is one.
    ///   - row: the server's row after the attempt.
    ///   - local: the stored item.
    init(
        of operation: TableOperation, behind: TableOperation?, sent: TableOperation.SentSnapshot, row: Item,
        local: Item?, _ definition: SyncTableDefinition
    ) {
        self.definition = definition
        let next = behind ?? operation
        let known = operation.base.map(definition.syncedFields) ?? [:]
        var sent = sent
        sent.fields = definition.syncedFields(of: sent)
        let left = known.isEmpty ? sent.fields : known.merging(sent.fields) { $1 }
        isKnown = !next.hasUnknownBase || sent.kind != .update
        if !isKnown {
            let shown = definition.syncedFields(of: row)
            // A value that the app has removed from its table is no change.
            let lost = local?.system.lostValues.filter { definition.syncs($0.key) } ?? [:]
            let unsent = shown.filter { name, _ in
                next.replaces || !(local?.content[name] ?? .null).isNull || !(left[name] ?? .null).isNull
            }
            fields = unsent.merging(lost) { $1 }.merging(sent.fields) { $1 }
            certain = left.filter { name, value in
                sent.fields[name] != nil || value.isShown(as: shown[name] ?? .null)
            }
            self.left = left
        } else {
            // The user has deleted the item and inserted it again after the attempt, unless the attempt has sent every
            // column: fields that the item no longer has are removed from the row.
            let replacesRow = next.replaces && sent.kind == .update
            fields = replacesRow ? left.merging(definition.syncedFields(of: row)) { known, _ in known } : left
            (self.left, certain) = (fields, fields)
        }
    }

    /// Whether another client has changed a field of the row since the attempt that the user has changed, too.
    ///
    /// - Parameters:
    ///   - made: the item's earlier state, with the fields of ``certain``.
    ///   - combinedColumns: the columns in which equal changes clash, too.
    func hasClash(
        of local: Item, with row: Item, madeOn made: Item, combining combinedColumns: Set<String>
    ) -> Bool {
        if isKnown {
            let merge = ThreeWayMerge(
                local: local, server: row, base: made,
                localOnlyColumns: Set(definition.columns.filter(\.isLocalOnly).map(\.name)))
            return merge.hasClash || combinedColumns.contains(where: merge.isChangedTwice)
        }
        return definition.syncedColumns.contains { column in
            let (mine, theirs) = (local.content[column.name] ?? .null, row.content[column.name] ?? .null)
            return mine != (fields[column.name] ?? .null) && !mine.isShown(as: theirs)
                && certain[column.name]?.isShown(as: theirs) != true
        }
    }
}
