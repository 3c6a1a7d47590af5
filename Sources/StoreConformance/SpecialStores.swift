// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Stores in special situations, which a harness provides for the rules about them. The rules of a `nil` property do not
/// apply.
///
/// Closing a store closes all files inside the directory of its path, also those of an app's database.
///
/// ```swift
/// var specialStores: SpecialStores {
///     SpecialStores(openSmall: { path, tables in
///         try MyStore(path: path, tables: tables, maximumSize: 8 << 20)
///     })
/// }
/// ```
public struct SpecialStores: Sendable {
    /// Opens a store at the path, as ``StoreHarness/open(at:tables:)`` does.
    public typealias Opening =
        @Sendable (_ path: String, _ tables: [SyncTableDefinition]) throws -> any SyncContextDataSource

    /// A store in an app's database, and a function that adds an item with this id to the table `Thing`, and commits, as the
    /// app does without the store.
    public typealias StoreWithApp = (
        store: any SyncContextDataSource, addItem: @Sendable (_ id: String) throws -> Void
    )

    /// Opens a store in an app's database at the path.
    public typealias AppOpening =
        @Sendable (_ path: String, _ tables: [SyncTableDefinition]) throws -> StoreWithApp

    /// Opens a store that has space for at most 32 MB, and for at least 200 kB.
    public var openSmall: Opening?

    /// Opens a store in an app's own tables, whose table `Thing` has a constraint: the column `label` must not be the text
    /// `refused`.
    public var openConstrained: Opening?

    /// Opens a store that detects the commits of an app. See
    /// ``/SyncCore/SyncContextDataSource/onExternalCommit(_:)``.
    public var openWithApp: AppOpening?

    /// Changes the closed store at the path, which ``StoreHarness/open(at:tables:)`` has made, as if a newer version of the
    /// store had written it.
    public var makeNewer: (@Sendable (_ path: String) throws -> Void)?

    /// Creates a set of these stores; the default has none.
    public init(
        openSmall: Opening? = nil, openConstrained: Opening? = nil,
        openWithApp: AppOpening? = nil,
        makeNewer: (@Sendable (_ path: String) throws -> Void)? = nil
    ) {
        self.openSmall = openSmall
        self.openConstrained = openConstrained
        self.openWithApp = openWithApp
        self.makeNewer = makeNewer
    }
}
