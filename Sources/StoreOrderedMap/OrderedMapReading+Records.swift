// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

// The error log and the table config.

extension OrderedMapReading {
    func operationError(operationID: Int64) throws -> TableOperationError? {
        try get(StoreKey.operationError(operationID)) { value in
            try TableOperationError(operationID: operationID, storedProperties: value)
        }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        var errors: [TableOperationError] = []
        try scan(prefix: StoreKey.operationErrors) { key, value in
            let error = try TableOperationError(operationID: key.operationID(), storedProperties: value)
            if table?.hasSameBytes(as: error.table) ?? true { errors.append(error) }
            return true
        }
        return errors
    }

    func configValue(_ key: ConfigKey) throws -> String? {
        try get(StoreKey.configValue(key)) { try $0.text() }
    }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        var values: [(key: ConfigKey, value: String)] = []
        try scan(prefix: StoreKey.configValues(of: table, kind: kind)) { key, value in
            values.append((ConfigKey(table: table, kind: kind, name: try key.text()), try value.text()))
            return true
        }
        return values
    }
}

extension OrderedMapWriter {
    func put(_ error: TableOperationError) throws {
        try put(Array(error.storedProperties), for: StoreKey.operationError(error.operationID))
    }

    func removeOperationError(operationID: Int64) throws {
        try delete(StoreKey.operationError(operationID))
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        let key = StoreKey.configValue(key)
        if let value { try put(Array(value.utf8), for: key) } else { try delete(key) }
    }
}
