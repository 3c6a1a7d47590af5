// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// A server may return the name of a column in another case than the app declares: PostgreSQL folds names without quotes,
// and other servers keep the spelling of the first writer. No two columns of a table differ in case only, and none has the
// name of a system property: see ``TableCatalog``.

extension Collection where Element == String {
    /// Returns the index of the member of a row that has the values of a synced column: the member of that name, otherwise
    /// the only one whose name differs in the case of ASCII letters.
    ///
    /// - Parameter reserved: names that are not columns.
    func index(ofColumn name: String, except reserved: [String] = []) -> Index? {
        if let index = firstIndex(of: name) { return index }
        let others = indices.filter { index in
            let other = self[index]
            return other.isEqual(toColumn: name) && !reserved.contains(other)
        }
        return others.count == 1 ? others[0] : nil
    }
}

extension SyncTableDefinition {
    /// The fields of a server's row, with the app's spelling of the synced columns.
    func spellingColumns(of fields: [String: ItemValue]) -> [String: ItemValue] {
        var spelled = fields
        for column in columns where !column.isLocalOnly && fields[column.name] == nil {
            guard let index = fields.keys.index(ofColumn: column.name) else { continue }
            let (name, value) = fields[index]
            spelled[name] = nil
            spelled[column.name] = value
        }
        return spelled
    }
}

extension Item {
    /// Returns the value of the column on the server, also one that the column cannot hold.
    ///
    /// - Parameter localOnlyColumns: columns whose values on the server do not count.
    package func shownValue(ofColumn name: String, localOnlyColumns: Set<String>) -> ItemValue? {
        content[name] ?? (localOnlyColumns.contains(name) ? nil : system.undeclaredValue(ofColumn: name))
    }

    /// Whether the server has a value that the column cannot hold. A field of the item is an earlier one then.
    func hasUnreadableValue(ofColumn name: String) -> Bool {
        !(system.undeclaredValue(ofColumn: name) ?? .null).isNull
    }
}

extension SystemProperties {
    /// Returns the undeclared value of the column, whose name may differ in case.
    func undeclaredValue(ofColumn name: String) -> ItemValue? {
        undeclared.keys.index(ofColumn: name, except: [Self.lostValuesName]).map { undeclared[$0].value }
    }
}

extension String {
    /// Whether the strings are equal if the case of ASCII letters is ignored.
    fileprivate func isEqual(toColumn name: String) -> Bool {
        utf8.count == name.utf8.count
            && zip(utf8, name.utf8).allSatisfy { $0 == $1 || $0 ^ $1 == 0x20 && $0.isASCIILetter }
    }
}
