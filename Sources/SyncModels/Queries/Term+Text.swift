// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// `String` and `String?`, whose terms have tests and functions of text.
public protocol TextFieldValue: FieldValue {}

extension String: TextFieldValue {}
extension Optional: TextFieldValue where Wrapped == String {}

extension Term where Value: TextFieldValue {
    /// The text contains the part, compared byte for byte.
    public func contains(_ part: String) -> Where<Model> { condition { .contains($0, part) } }

    /// The text begins with the prefix, compared byte for byte.
    public func hasPrefix(_ prefix: String) -> Where<Model> { condition { .hasPrefix($0, prefix) } }

    /// The text ends with the suffix, compared byte for byte.
    public func hasSuffix(_ suffix: String) -> Where<Model> { condition { .hasSuffix($0, suffix) } }

    /// The text in lower case, for tests that ignore case.
    public func lowercased() -> Term<Model, Value> { call(.tolower, as: Value.self) }

    /// The text in upper case.
    public func uppercased() -> Term<Model, Value> { call(.toupper, as: Value.self) }

    /// The text without white space at either end.
    public func trimmed() -> Term<Model, Value> { call(.trim, as: Value.self) }
}
