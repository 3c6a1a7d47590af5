// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SQLText {
    /// Appends the sort keys, and the id, so that the order is total. Keys after the id have no effect, but would keep the
    /// planner from using the order of an index.
    mutating func append(ordering: [ODataOrdering]) {
        for key in ordering {
            if key.column == .id {
                append(key.isDescending ? "id DESC" : "id")
                return
            }
            for term in key.column.sortTerms(database) {
                append(term)
                if case .field(let name) = key.column {
                    append(.text(name))
                    append(")")
                }
                append(key.isDescending ? " DESC, " : ", ")
            }
        }
        append("id")
    }
}

extension ODataColumn {
    /// The terms that sort by this column. Those of a field are calls without their last argument, the name: values of
    /// different types are sorted by type, then by the number or the text.
    fileprivate func sortTerms(_ database: SQLDatabase) -> [String] {
        switch self {
        case .id: ["id"]
        case .createdAt: ["createdAt"]
        case .updatedAt: ["updatedAt"]
        case .version: ["odata_version(revision)" + (database == .sqlite ? "" : " COLLATE \"C\"")]
        case .deleted: ["deleted"]
        case .field:
            ["odata_sort_rank(fields, ", "odata_sort_number(fields, ", "odata_sort_text(fields, "]
        }
    }
}
