// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in config values.
    @MutantList static var configs: [StoreMutant] {
        StoreMutant(
            .config, "keeps-first", "Setting a value does not replace an earlier one.",
            killedBy: "config.set",
            message: "after setting it again"
        ) { flaw in
            flaw.setConfig = { [hits = flaw.hits] transaction, value, key in
                if value != nil, try transaction.configValue(key) != nil {
                    hits.hit()
                } else {
                    try transaction.setConfigValue(value, for: key)
                }
            }
        }
        StoreMutant(
            .config, "nil-as-empty", "Setting nil sets the empty string.", killedBy: "config.remove",
            "config.inside", message: "the removed value"
        ) { flaw in
            flaw.setConfig = { [hits = flaw.hits] transaction, value, key in
                if value == nil { hits.hit() }
                try transaction.setConfigValue(value ?? "", for: key)
            }
        }
        StoreMutant(
            .config, "empty-as-nil", "Setting the empty string removes the value.", killedBy: "config.exact",
            "config.table", message: "the value"
        ) { flaw in
            flaw.setConfig = { [hits = flaw.hits] transaction, value, key in
                if value == "" { hits.hit() }
                try transaction.setConfigValue(value == "" ? nil : value, for: key)
            }
        }
        StoreMutant(
            .config, "trims", "Values lose leading white space.", killedBy: "config.exact",
            "corpus.config", message: "the value"
        ) { flaw in
            flaw.configValue = { [hits = flaw.hits] snapshot, key in
                let value = try snapshot.configValue(key)
                return hits.changing(value, to: value.map { String($0.drop { $0 == " " }) })
            }
        }
        StoreMutant(
            .config, "names-lowercase", "Names are converted to lowercase.", killedBy: "config.names",
            message: "the value of \"A\""
        ) {
            $0.changingKey { ConfigKey(table: $0.table, kind: $0.kind, name: $0.name.lowercased()) }
        }
        StoreMutant(
            .config, "names-cut", "Names are truncated to 512 characters.", killedBy: "size.config-64k",
            message: "a long value"
        ) {
            $0.changingKey { ConfigKey(table: $0.table, kind: $0.kind, name: String($0.name.prefix(512))) }
        }
        StoreMutant(
            .config, "one-table", "All tables share their values.", killedBy: "config.table",
            "config.separator",
            message: "the value of"
        ) {
            $0.changingKey { ConfigKey(table: "all", kind: $0.kind, name: $0.name) }
        }
        StoreMutant(
            .config, "one-kind", "All kinds share their values.", killedBy: "config.kind",
            message: "the delta token"
        ) {
            $0.changingKey { ConfigKey(table: $0.table, kind: .setting, name: $0.name) }
        }
        StoreMutant(
            .config, "joined", "Table and name are joined by a slash.", killedBy: "config.separator",
            message: "b/c of a"
        ) {
            $0.changingKey { ConfigKey(table: "", kind: $0.kind, name: "\($0.table)/\($0.name)") }
        }
        StoreMutant(
            .config, "last-first", "Values are in descending order.", killedBy: "config.order",
            "corpus.config",
            message: "the keys"
        ) { flaw in
            flaw.configValues = { [hits = flaw.hits] snapshot, table, kind in
                let right = try snapshot.configValues(in: table, kind: kind)
                if right.count > 1 { hits.hit() }
                return right.reversed()
            }
        }
        StoreMutant(
            .config, "items-too", "Setting a value deletes the item with that name as id.",
            killedBy: "config.apart",
            message: "the items"
        ) { flaw in
            flaw.setConfig = { [hits = flaw.hits] transaction, value, key in
                try transaction.setConfigValue(value, for: key)
                if try transaction.item(id: key.name, in: "Thing") != nil { hits.hit() }
                try transaction.deleteItems(ids: [key.name], in: "Thing")
            }
        }
    }
}

extension StoreFlaw {
    /// Changes the keys of config values.
    fileprivate mutating func changingKey(_ change: @escaping @Sendable (ConfigKey) -> ConfigKey) {
        setConfig = { [hits] transaction, value, key in
            try transaction.setConfigValue(value, for: hits.changing(key, to: change(key)))
        }
        configValue = { snapshot, key in try snapshot.configValue(change(key)) }
        configValues = { snapshot, table, kind in
            let key = change(ConfigKey(table: table, kind: kind, name: ""))
            return try snapshot.configValues(in: key.table, kind: key.kind)
        }
    }
}
