// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableQuery {
    /// Returns the query's options as OData, in a fixed order, without the app's parameters.
    ///
    /// The order of the rows is the query's own: a caller that reads several pages adds a total order.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/filterNotSupported`` when a part cannot be expressed,
    ///   ``SyncError/Code/invalidParameter`` for a negative offset or limit.
    package func odata(_ dialect: WireDialect) throws(SyncError) -> [QueryParameter] {
        try validateWindow()
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

    /// Every selection includes the id and the system properties that the server has.
    private func selectedNames(_ dialect: WireDialect) throws(SyncError) -> String {
        var names = ["id"]
        for column in selection { names.append(try dialect.propertyName(of: column)) }
        names += dialect.selectedSystemNames
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }.joined(separator: ",")
    }
}

extension Ordering {
    fileprivate func odata(_ dialect: WireDialect) throws(SyncError) -> String {
        try dialect.propertyName(of: requiredColumn) + (isDescending ? " desc" : "")
    }
}
