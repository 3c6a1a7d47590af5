// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a sync context pushes.
public struct SyncSettings: Sendable, Hashable {
    /// Whether an update sends only the fields that differ from the server's row, when that is known.
    ///
    /// Otherwise whole items are sent, and the later of two updates decides every field.
    public var sendsChangedFieldsOnly = true
    /// When to ask again after a failure that may pass.
    public var retry = RetryPolicy()
    /// After how many failed attempts an operation is parked: it stays listed, and is not sent until it is edited,
    /// resolved or replayed.
    public var maxAttempts = 10

    /// The default settings.
    public init() {}
}
