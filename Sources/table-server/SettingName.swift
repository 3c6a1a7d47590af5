// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The names of the options, which are also those of the members of a file and of the environment variables.
enum SettingName {
    /// The options with a value.
    static let options = [
        "host", "port", "table", "data", "database", "max-connections", "page-size", "max-top",
        "max-requests", "max-feeds", "max-feeds-per-user", "dialect", "log-level", "secret-file", "key-set",
        "issuer", "audience",
    ]
    /// The options without a value.
    static let flags = ["page", "metrics"]
    /// The options that can be repeated.
    static let lists: Set = ["table"]
    /// The settings that a place for the rows replaces in later sources: the other place, and what is only for it.
    static let replaced = ["data": ["database", "max-connections"], "database": ["data"]]
    static let all = options + flags

    /// The beginning of the names of environment variables.
    static let prefix = "TABLESERVER_"

    /// The environment variable of an option.
    static func variable(_ name: String) -> String {
        prefix + name.uppercased().replacing("-", with: "_")
    }

    /// A sentence that names the setting that an unknown name probably means, or else all settings.
    static func suggestion(for unknown: String, among names: [String]) -> String {
        // A missing, an additional, another or a moved character.
        let isNear = { (name: String) in unknown.difference(from: name).count <= 2 }
        return if let near = names.first(where: isNear) { "Did you mean \(near)?" } else {
            "The settings are \(names.joined(separator: ", "))."
        }
    }
}
