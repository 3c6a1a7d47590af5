// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Config values that are wrong.
    @MutantList static var configs: [StoreMutant] {
        StoreMutant(
            .config, "keeps-first", "A value that is set is not replaced.", killedBy: "config.set",
            saying: "after setting it again"
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
            .config, "nil-as-empty", "Setting nil sets the empty text.", killedBy: "config.remove",
            "config.inside", saying: "the removed value"
        ) { flaw in
            flaw.setConfig = { [hits = flaw.hits] transaction, value, key in
                if value == nil { hits.hit() }
                try transaction.setConfigValue(value ?? "", for: key)
            }
        }
        StoreMutant(
            .config, "empty-as-nil", "Setting the empty text removes the value.", killedBy: "config.exact",
            "config.table", saying: "the value"
        ) { flaw in
            flaw.setConfig = { [hits = flaw.hits] transaction, value, key in
                if value == "" { hits.hit() }
                try transaction.setConfigValue(value == "" ? nil : value, for: key)
            }
        }
        StoreMutant(
            .config, "trims", "Values lose the white space at their ends.", killedBy: "config.exact",
            "corpus.config", saying: "the value"
        ) { flaw in
            flaw.configValue = { [hits = flaw.hits] snapshot, key in
                let value = try snapshot.configValue(key)
                return hits.changing(value, to: value.map { String($0.drop { $0 == " " }) })
            }
        }
        StoreMutant(
            .config, "names-lowercase", "Names lose their case.", killedBy: "config.names",
            saying: "the value of \"A\""
        ) {
            $0.naming { ConfigKey(table: $0.table, kind: $0.kind, name: $0.name.lowercased()) }
        }
        StoreMutant(
            .config, "names-cut", "Names are cut at 512 bytes.", killedBy: "size.config-64k",
            saying: "a long value"
        ) {
            $0.naming { ConfigKey(table: $0.table, kind: $0.kind, name: String($0.name.prefix(512))) }
        }
        StoreMutant(
            .config, "one-table", "Tables share their values.", killedBy: "config.table", "config.separator",
            saying: "the value of"
        ) {
            $0.naming { ConfigKey(table: "all", kind: $0.kind, name: $0.name) }
        }
        StoreMutant(
            .config, "one-kind", "Kinds share their values.", killedBy: "config.kind",
            saying: "the delta token"
        ) {
            $0.naming { ConfigKey(table: $0.table, kind: .setting, name: $0.name) }
        }
        StoreMutant(
            .config, "joined", "Table and name are joined by a slash.", killedBy: "config.separator",
            saying: "b/c of a"
        ) {
            $0.naming { ConfigKey(table: "", kind: $0.kind, name: "\($0.table)/\($0.name)") }
        }
        StoreMutant(
            .config, "last-first", "Values are given last first.", killedBy: "config.order", "corpus.config",
            saying: "the keys"
        ) { flaw in
            flaw.configValues = { [hits = flaw.hits] snapshot, table, kind in
                let right = try snapshot.configValues(in: table, kind: kind)
                if right.count > 1 { hits.hit() }
                return right.reversed()
            }
        }
        StoreMutant(
            .config, "items-too", "Setting a value touches the item of its name.", killedBy: "config.apart",
            saying: "the items"
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
    fileprivate mutating func naming(_ change: @escaping @Sendable (ConfigKey) -> ConfigKey) {
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
