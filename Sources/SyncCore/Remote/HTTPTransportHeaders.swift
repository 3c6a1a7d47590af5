// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The headers of a request or an answer: names and values in order, found by name whatever the case.
///
/// Descriptions hide the values of headers that carry credentials.
public struct HTTPTransportHeaders: Sendable, Hashable {
    /// One header.
    public struct Field: Sendable, Hashable {
        /// The name as it was written.
        public let name: String
        /// The value.
        public let value: String

        /// Makes a header.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All headers, in order; a name may occur more than once.
    public private(set) var fields: [Field]

    /// Makes headers from a list.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The value of that name, several of them joined with `, `; `nil` when there is none.
    ///
    /// Setting replaces every header of that name, in the place of the first; setting `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            let values = fields.lazy.filter { $0.isNamed(name) }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            let place = fields.firstIndex { $0.isNamed(name) } ?? fields.endIndex
            fields.removeAll { $0.isNamed(name) }
            if let newValue { fields.insert(Field(name: name, value: newValue), at: place) }
        }
    }

    /// Adds a header and keeps those of the same name.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Checks that every header can be sent as it is.
    ///
    /// Names are tokens of RFC 9110. Values are printable ASCII and neither begin nor end with a space, because
    /// URL loading systems silently drop or change other ones, and a dropped `If-Match` would overwrite blindly.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidRequest``; the value is not shown.
    public func validate() throws(SyncError) {
        for field in fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenByte) else {
                throw SyncError(
                    .invalidRequest,
                    "A header's name contains a character that is not allowed there: "
                        + field.name.debugDescription)
            }
            let value = field.value.utf8
            guard value.allSatisfy({ (0x20...0x7E).contains($0) }), value.first != 0x20, value.last != 0x20
            else {
                throw SyncError(
                    .invalidRequest,
                    "The value for the header '\(field.name)' cannot be sent: only printable ASCII is allowed, "
                        + "without a space at either end.")
            }
        }
    }
}

extension HTTPTransportHeaders.Field {
    /// Names are ASCII, so only the case of ASCII letters is ignored.
    func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { $0 == $1 || $0.lowercased == $1.lowercased }
    }

    /// Whether the value must not be shown.
    var isSecret: Bool {
        let name = name.lowercased()
        return name == "x-zumo-application" || name.hasSuffix("cookie")
            || ["auth", "token", "key", "secret"].contains { name.contains($0) }
    }
}

extension HTTPTransportHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The header with its value, or without it when it carries credentials.
    public var description: String { "\(name): \(isSecret ? "<hidden>" : value)" }
    /// Nothing beyond the description, so that `dump` hides credentials too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HTTPTransportHeaders: ExpressibleByDictionaryLiteral {
    /// Makes headers from a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension UInt8 {
    /// Whether the byte may stand in a header's name.
    fileprivate var isTokenByte: Bool {
        isASCIIDigit || isASCIILetter || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }

    /// The letter in lower case, if it is an ASCII letter.
    fileprivate var lowercased: UInt8 { isASCIILetter ? self | 0x20 : self }
}
