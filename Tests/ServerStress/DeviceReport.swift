// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a device has done, and what it has.
struct DeviceReport: Codable {
    /// What the device has done to one of the rows that it has inserted.
    struct Row: Codable {
        var value: Int64
        var changeCount = 1
        var isDeleted = false
    }

    /// The rows that the device has changed. The server has confirmed all changes.
    let ownRows: [String: Row]
    /// The values of the rows of all devices that this one has.
    let pulledRows: [String: Int64]
}
