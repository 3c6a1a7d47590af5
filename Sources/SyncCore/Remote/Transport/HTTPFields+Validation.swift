// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

// Values are printable ASCII and neither begin nor end with a space. URL loading systems silently drop or change other
// ones, and an update without its `If-Match` overwrites unconditionally.

extension HTTPField {
    /// Validates a value before a field is made of it: `HTTPField` replaces invalid characters and reports no error.
    ///
    /// - Throws: ``SyncError`` with that code; the value is not shown.
    static func validate(
        _ value: String, for name: Name, code: SyncError.Code = .invalidRequest
    ) throws(SyncError) {
        let bytes = value.utf8
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }), bytes.first != 0x20, bytes.last != 0x20 else {
            throw SyncError(
                code,
                "The value for the header '\(name.rawName)' cannot be sent: only printable ASCII is allowed, without "
                    + "a space at either end.")
        }
    }
}

extension HTTPFields {
    /// Validates that every field can be sent as it is and that none belongs to the transport.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidRequest``; values are not shown.
    func validate() throws(SyncError) {
        let reserved = ["connection", "content-length", "host", "transfer-encoding"]
        for field in self {
            guard !reserved.contains(field.name.canonicalName) else {
                throw SyncError(
                    .invalidRequest, "The header '\(field.name.rawName)' is set by the transport alone.")
            }
            try HTTPField.validate(field.value, for: field.name)
        }
    }
}
