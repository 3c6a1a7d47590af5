// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The form of the protocol that a model server speaks: names, lists, and what an update replaces.
enum ModelDialect: String, Sendable, CaseIterable {
    case v1, v2, v3

    /// The dialect of the devices.
    var wire: WireDialect {
        switch self {
        case .v1: .v1
        case .v2: .v2
        case .v3: .v3
        }
    }

    /// Whether an update replaces the whole row, and a tombstone is gone for requests that do not ask for deleted rows.
    var replacesRows: Bool { self == .v3 }

    /// Whether rows have the time of their insert. A server without it refuses lists that select it.
    var hasCreatedAt: Bool { self != .v3 }

    static func of(seed: UInt64) -> ModelDialect {
        var random = SimulationRandom(seed, SimulationRandom.Stream.dialect.rawValue)
        return switch random.below(100) {
        case ..<15: .v3
        case ..<20: .v1
        default: .v2
        }
    }

    /// Returns the name of a system property in JSON and in queries.
    func name(ofSystemProperty name: String) -> String { self == .v1 ? "__" + name : name }

    /// Returns the name of a property as the server keeps it.
    func property(_ name: String) -> String {
        guard self == .v1, name.hasPrefix("__") else { return name }
        return String(name.dropFirst(2))
    }

    /// Returns the page as the body of a list.
    ///
    /// - Parameters:
    ///   - count: the number of all rows, if the request asks for it.
    ///   - next: the `$skip` of the rows behind the page; `nil` at the end.
    func list(_ rows: [ModelJSON], count: Int64?, next: Int?) -> ModelJSON {
        if self == .v3 {
            var list: [String: ModelJSON] = ["items": .array(rows)]
            list["count"] = count.map(ModelJSON.int)
            list["nextLink"] = next.map { .text("$skip=\($0)") }
            return .object(list)
        }
        guard let count else { return .array(rows) }
        return .object(["results": .array(rows), "count": .int(count)])
    }

    /// Returns the rows in the body of a list; `nil` if it is none.
    static func rows(in body: ModelJSON) -> [ModelJSON]? {
        switch body {
        case .array(let rows): return rows
        case .object(let list):
            guard case .array(let rows)? = list["items"] ?? list["results"] else { return nil }
            return rows
        default: return nil
        }
    }
}
