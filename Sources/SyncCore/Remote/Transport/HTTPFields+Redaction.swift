// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

extension HTTPField {
    /// Whether the value carries credentials and must not be shown.
    var isCredential: Bool {
        let name = name.canonicalName
        return name == "x-zumo-application" || name.hasSuffix("cookie")
            || ["auth", "token", "key", "secret"].contains { name.contains($0) }
    }
}

extension HTTPFields {
    /// All fields in order, credentials without their values.
    var redactedDescription: String {
        let fields = map { "\($0.name.rawName): \($0.isCredential ? "<hidden>" : $0.value)" }
        return "[\(fields.joined(separator: ", "))]"
    }
}
