// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The keys of an ``OrderedMapStore``, and with them its layout.
///
/// A key is one byte that names its space, then parts. A part of varying length has its length in front, unless it is
/// the last, so no key of one table can be taken for one of another. Numbers in keys are eight bytes in numeric order.
///
/// | space | rest of the key       | value                                                          |
/// |-------|-----------------------|----------------------------------------------------------------|
/// | `F`   |                       | the name and version of this layout                            |
/// | `T`   | table                 | every column ever declared: name, type, whether it has an index |
/// | `I`   | table, id             | item without its id, see ``Item/bytes``                        |
/// | `X`   | table, column, place of a value, id | how long the id is, see ``ColumnIndex``          |
/// | `O`   | operation id          | operation: table, item id, properties as JSON                  |
/// | `Q`   | table, operation id   | nothing; the queue of one table                                |
/// | `P`   | table, item id        | the operation ids of one item, ascending                       |
/// | `N`   | table                 | how many operations the table has                              |
/// | `A`   |                       | how many operations there are in all                           |
/// | `L`   |                       | the last operation id                                          |
/// | `E`   | operation id          | operation error: properties as JSON                            |
/// | `C`   | table, kind, name     | config value as text                                           |
enum StoreKey {
    static let format: [UInt8] = [UInt8(ascii: "F")]
    static let allOperationsCount: [UInt8] = [UInt8(ascii: "A")]
    static let lastOperationID: [UInt8] = [UInt8(ascii: "L")]
    static let operations: [UInt8] = [UInt8(ascii: "O")]
    static let operationErrors: [UInt8] = [UInt8(ascii: "E")]

    static func columns(of table: String) -> [UInt8] { key("T", table) }
    static func items(of table: String) -> [UInt8] { key("I", table) }
    static func item(_ id: String, of table: String) -> [UInt8] { key("I", table, id) }
    static func queue(of table: String) -> [UInt8] { key("Q", table) }
    static func operations(ofItem id: String, of table: String) -> [UInt8] { key("P", table, id) }
    static func operationCount(of table: String) -> [UInt8] { key("N", table) }

    static func operation(_ id: Int64) -> [UInt8] { operations.appending(id) }
    static func queued(_ id: Int64, of table: String) -> [UInt8] { queue(of: table).appending(id) }
    static func operationError(_ id: Int64) -> [UInt8] { operationErrors.appending(id) }

    static func index(of column: String, of table: String) -> [UInt8] {
        var key = key("X", table)
        key.append(counted: column)
        return key
    }

    static func configValues(of table: String, kind: ConfigKey.Kind) -> [UInt8] {
        var key = key("C", table)
        key.append(counted: kind.rawValue)
        return key
    }

    static func configValue(_ config: ConfigKey) -> [UInt8] {
        configValues(of: config.table, kind: config.kind) + Array(config.name.utf8)
    }

    private static func key(_ space: Unicode.Scalar, _ table: String, _ last: String = "") -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(4 + table.utf8.count + last.utf8.count + MemoryLayout<Int64>.size)
        key.append(UInt8(ascii: space))
        key.append(counted: table)
        key.append(contentsOf: last.utf8)
        return key
    }
}

extension [UInt8] {
    fileprivate func appending(_ id: Int64) -> [UInt8] {
        var key = self
        key.append(ordered: id)
        return key
    }
}
