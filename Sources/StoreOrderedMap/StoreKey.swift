// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The keys, and thereby the layout, of an ``OrderedMapStore``.
///
/// A key is one byte that names its space, then parts. A variable-length part has its length in front unless it is
/// the last one, so keys of different tables never collide. Numbers in keys are eight bytes that sort in numeric order.
///
/// | space | rest of the key       | value                                                          |
/// |-------|-----------------------|----------------------------------------------------------------|
/// | `F`   |                       | the name and version of this layout                            |
/// | `T`   | table                 | every column ever declared: name, type, has an index, is synced |
/// | `R`   | table                 | the names of its parents; no key for a table without parents   |
/// | `I`   | table, id             | item without its id, see ``Item/bytes``                        |
/// | `X`   | table, column, encoded value, id | length of the id, see ``ColumnIndex``              |
/// | `O`   | operation id          | operation: table, item id, ``TableOperation/appendBytes(to:)``  |
/// | `Q`   | table, operation id   | empty; the queue of one table                                  |
/// | `P`   | table, item id        | the operation ids of one item, ascending                       |
/// | `N`   | table                 | number of operations in the table                              |
/// | `A`   |                       | number of operations in all tables                             |
/// | `L`   |                       | the last operation id                                          |
/// | `E`   | operation id          | operation error: properties as JSON                            |
/// | `C`   | table, kind, name     | config value as text                                           |
/// | `V`   |                       | how often openings of several processes have changed `T`       |
enum StoreKey {
    static let format = key("F")
    static let allOperationsCount = key("A")
    static let lastOperationID = key("L")
    static let operations = key("O")
    static let allColumns = key("T")
    static let operationErrors = key("E")
    static let columnChanges = key("V")

    static func columns(of table: String) -> [UInt8] { key("T", table) }
    static func parents(of table: String) -> [UInt8] { key("R", table) }
    static func items(of table: String) -> [UInt8] { key("I", table) }
    static func queue(of table: String) -> [UInt8] { key("Q", table) }
    static func operationCount(of table: String) -> [UInt8] { key("N", table) }

    static func item(_ id: String, of table: String) -> [UInt8] { key("I", table) { $0.append(id) } }
    static func operations(ofItem id: String, of table: String) -> [UInt8] {
        key("P", table) { $0.append(id) }
    }

    static func operation(_ id: Int64) -> [UInt8] { key("O") { $0.append(ordered: id) } }
    static func operationError(_ id: Int64) -> [UInt8] { key("E") { $0.append(ordered: id) } }
    static func queued(_ id: Int64, of table: String) -> [UInt8] {
        key("Q", table) { $0.append(ordered: id) }
    }

    static func index(of column: String, of table: String) -> [UInt8] {
        key("X", table) { $0.append(counted: column) }
    }

    static func configValues(of table: String, kind: ConfigKey.Kind) -> [UInt8] {
        key("C", table) { $0.append(counted: kind.rawValue) }
    }

    static func configValue(_ config: ConfigKey) -> [UInt8] {
        configValues(of: config.table, kind: config.kind) + Array(config.name.utf8)
    }

    private static func key(
        _ space: Unicode.Scalar, _ table: String? = nil, _ writeRest: (inout ByteWriter) -> Void = { _ in }
    ) -> [UInt8] {
        var key = ByteWriter(capacity: 128)
        key.append(UInt8(ascii: space))
        if let table { key.append(counted: table) }
        writeRest(&key)
        return key.array
    }
}
