// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SyncCore

/// The id of an item of one model, so that ids of different tables cannot be confused.
///
/// Ids are compared byte for byte. A write refuses an id that ``ItemID`` does not allow.
public struct SyncID<Model: SyncModel>: Hashable, Sendable {
    /// The id as text.
    public let text: String

    /// Makes a new id: a time-ordered UUID (version 7), by the system's clock and random generator, because a model is made
    /// without a context.
    public init() {
        text = ItemID.generate(at: Timestamp(Date())) { .random(in: .min ... .max) }
    }

    init(unchecked text: String) { self.text = text }

    /// Compares the UTF-8 bytes.
    public static func == (left: SyncID, right: SyncID) -> Bool { left.text.hasSameBytes(as: right.text) }
}

extension SyncID: LosslessStringConvertible, ExpressibleByStringLiteral {
    /// Makes an id from a text; `nil` if ``ItemID/validate(_:)`` refuses it.
    public init?(_ text: String) {
        guard (try? ItemID.validate(text)) != nil else { return nil }
        self.text = text
    }

    /// Makes an id from a literal. A write refuses it if it is not valid.
    public init(stringLiteral value: String) { text = value }

    /// The id as text.
    public var description: String { text }
}

extension SyncID: Codable {
    /// Reads an id that is coded as one string.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes the id as one string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension SyncID: FieldValue {
    /// Ids are text.
    public static var columnType: ColumnType { .text }

    /// Makes an id from text; `nil` for any other value.
    public init?(itemValue: ItemValue) {
        guard let text = itemValue.textValue else { return nil }
        self.text = text
    }

    /// The id as text.
    public var itemValue: ItemValue { .text(text) }
}
