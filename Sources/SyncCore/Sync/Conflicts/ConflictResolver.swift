// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Decides conflicts by a rule, whether they show in a push or in a pull.
///
/// ```swift
/// settings.resolver = .fieldMerge(onClash: .serverWins)
/// settings.resolvers["Log"] = .clientWins
/// ```
///
/// A decision is carried out in one transaction, and only if nothing has changed since it was asked for; otherwise
/// the resolver is asked again with what is there now.
public struct ConflictResolver: Sendable {
    private let decision: @Sendable (Conflict) async throws -> ConflictDecision

    /// A rule of the app's own. It may take its time, for example to ask the user; what it throws becomes the
    /// operation's error.
    public init(_ decision: @escaping @Sendable (Conflict) async throws -> ConflictDecision) {
        self.decision = decision
    }

    /// What the rule says.
    public func resolve(_ conflict: Conflict) async throws -> ConflictDecision {
        try await decision(conflict)
    }
}

extension ConflictResolver {
    /// The server's row always stays.
    public static let serverWins = ConflictResolver { _ in .keepServer }

    /// The device's change always stays.
    public static let clientWins = ConflictResolver { _ in .keepClient }

    /// The operation always stays pending, for the app to decide later.
    public static let keepPending = ConflictResolver { _ in .keepPending }

    /// The later change stays: the server's `updatedAt` against the time of the edit by the device's clock. The server
    /// wins ties, and rows that show no time; a device whose clock is wrong wins or loses wrongly.
    public static let lastWriterWins = ConflictResolver { conflict in
        guard let mine = conflict.operation.changedAt, let theirs = conflict.serverItem?.system.updatedAt
        else {
            return conflict.serverItem == nil ? .keepClient : .keepServer
        }
        return theirs.isEarlier(than: mine) ? .keepClient : .keepServer
    }

    /// A deletion on either side stays; between two edits the other rule decides.
    public static func deleteWins(otherwise rule: ConflictResolver) -> ConflictResolver {
        ConflictResolver { conflict in
            if conflict.isDeletedOnServer { return .keepServer }
            if conflict.isDeletedOnClient { return .keepClient }
            return try await rule.resolve(conflict)
        }
    }

    /// An edit on either side stays and undoes a deletion on the other; between two edits the other rule decides.
    public static func updateWins(otherwise rule: ConflictResolver) -> ConflictResolver {
        ConflictResolver { conflict in
            switch (conflict.isDeletedOnClient, conflict.isDeletedOnServer) {
            case (true, _): .keepServer
            case (false, true): .keepClient
            case (false, false): try await rule.resolve(conflict)
            }
        }
    }

    /// Field by field: a change that one side made stays. Where both changed a field to different values, or one side
    /// deleted the item, the other rule decides: its item's field, or the whole.
    ///
    /// - Parameter rule: what to do about clashes; `keepServer` and `keepClient` decide the clashing fields only,
    ///   any other decision the whole conflict.
    public static func fieldMerge(onClash rule: ConflictResolver) -> ConflictResolver {
        ConflictResolver { conflict in
            guard let client = conflict.clientItem, let server = conflict.serverItem, !server.system.deleted
            else {
                return try await rule.resolve(conflict)
            }
            let merge = FieldMerge(client: client, server: server, base: conflict.base)
            guard merge.hasClash else { return .merge(merge.item(preferringClient: false)) }
            switch try await rule.resolve(conflict) {
            case .keepServer: return .merge(merge.item(preferringClient: false))
            case .keepClient: return .merge(merge.item(preferringClient: true))
            case let decision: return decision
            }
        }
    }
}

/// Two states of an item joined by what each has changed since the base.
private struct FieldMerge {
    let client: Item
    let server: Item
    private let clientChanges: Set<String>
    private let clashes: Set<String>

    /// Without a base every field that the device has counts as changed by it.
    ///
    /// A field of the server is changed only if it is not what the server makes of the base's value, and a clash only if
    /// it is not what the server makes of the client's: see ``ItemValue/isShown(as:)``.
    init(client: Item, server: Item, base: Item?) {
        self.client = client
        self.server = server
        func isShown(_ item: Item?, as shown: Item?, _ name: String) -> Bool {
            (item?.fields[name] ?? .null).isShown(as: shown?.fields[name] ?? .null)
        }
        let names = Set(client.fields.keys).union(base?.fields.keys ?? [:].keys)
        let serverChanges = names.filter { !isShown(base, as: server, $0) }
        clientChanges = names.filter { name in
            let isSame = (client.fields[name] ?? .null) == (base?.fields[name] ?? .null)
            // An old copy of the item may still have the value as it was before the server rounded it.
            return !isSame && !(serverChanges.contains(name) && isShown(client, as: base, name))
        }
        clashes = clientChanges.filter { serverChanges.contains($0) && !isShown(client, as: server, $0) }
    }

    var hasClash: Bool { !clashes.isEmpty }

    func item(preferringClient: Bool) -> Item {
        var merged = server
        for name in clientChanges where preferringClient || !clashes.contains(name) {
            merged.fields[name] = client.fields[name] ?? .null
        }
        return merged
    }
}
