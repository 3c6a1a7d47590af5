// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A function whose properties must hold for every input.
enum FuzzTarget: String, CaseIterable {
    case json, page, filter, query, date, retryAfter, entityTag, storedItem

    /// Checks the properties for one input; a property that does not hold ends the process.
    func check(_ input: Data) {
        switch self {
        case .json: checkJSON(input)
        case .page: checkPage(input)
        case .filter: checkFilter(input)
        case .query: checkFilterText(input)
        case .date: checkDate(input)
        case .retryAfter: checkRetryAfter(input)
        case .entityTag: checkEntityTag(input)
        case .storedItem: checkStoredItem(input)
        }
    }
}

/// Ends the process, so that libFuzzer stores the input, when the property does not hold.
func require(_ property: Bool, _ message: @autoclosure () -> String) {
    guard property else { fatalError(message()) }
}
