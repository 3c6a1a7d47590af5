// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableQuery {
    /// The query's options as OData, in a fixed order; the user's own parameters are not among them.
    ///
    /// The order is the query's alone: a caller that reads page by page must make it total.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` when a part cannot be expressed,
    ///   ``SyncError/Code/invalidParameter`` for a negative offset or limit.
    package func odata(_ dialect: WireDialect) throws(SyncError) -> [QueryParameter] {
        guard offset >= 0, limit ?? 0 >= 0 else {
            throw .invalidParameter("The offset and the limit of a query cannot be negative.")
        }
        var options: [QueryParameter] = []
        if let filter { options.append(QueryParameter(name: "$filter", value: try filter.odata(dialect))) }
        if !orderings.isEmpty {
            var keys: [String] = []
            for ordering in orderings { keys.append(try ordering.odata(dialect)) }
            options.append(QueryParameter(name: "$orderby", value: keys.joined(separator: ",")))
        }
        if offset > 0 { options.append(QueryParameter(name: "$skip", value: "\(offset)")) }
        if let limit { options.append(QueryParameter(name: "$top", value: "\(limit)")) }
        if !selection.isEmpty {
            options.append(QueryParameter(name: "$select", value: try selectedNames(dialect)))
        }
        if includesTotalCount { options.append(dialect.countParameter) }
        return options
    }

    /// The id and the system properties come with every selection.
    private func selectedNames(_ dialect: WireDialect) throws(SyncError) -> String {
        var names = ["id"]
        for column in selection { names.append(try dialect.propertyName(of: column)) }
        if dialect.selectsSystemProperties { names += dialect.systemNames.all }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }.joined(separator: ",")
    }
}

extension Ordering {
    fileprivate func odata(_ dialect: WireDialect) throws(SyncError) -> String {
        guard case .column(let column) = expression else {
            throw SyncError(.filterNotSupported, "A query can be ordered by columns only.")
        }
        return try dialect.propertyName(of: column) + (isDescending ? " desc" : "")
    }
}
