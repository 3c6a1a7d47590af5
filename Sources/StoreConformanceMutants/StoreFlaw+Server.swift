// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

/// What interrupted a write on the simulated server.
enum WriteInterruption {
    case lostInWrite, commit(CommitFault)

    /// Whether the server has committed the transaction.
    var isCommitted: Bool {
        if case .commit(.lostResponse) = self { true } else { false }
    }
}

/// What a store does about a write that was interrupted.
enum InterruptionHandling {
    case throwing(StoreError.Code), returning, runningAgain
    /// As if the transaction had been committed, then running the body again.
    case committingAndRunningAgain
}

extension StoreFlaw {
    /// What the contract requires; the write has no effect unless the server committed it.
    static func correctHandling(_ interruption: WriteInterruption) -> InterruptionHandling {
        switch interruption {
        case .lostInWrite, .commit(.rolledBack): .throwing(.unavailable)
        case .commit(.lostBeforeCommit), .commit(.lostResponse): .throwing(.outcomeUnknown)
        }
    }

    /// Puts the store behind a simulated server.
    ///
    /// - Parameter handling: what the store does about interrupted writes.
    mutating func useServer(
        handling: @escaping @Sendable (WriteInterruption) -> InterruptionHandling = StoreFlaw.correctHandling
    ) {
        isOnServer = true
        hasFilesAtPath = false
        openBase = { [server] base, path, tables in
            guard server.acceptConnection() else {
                throw StoreError(.unavailable, "The server refuses connections; try again later.")
            }
            return try base.open(at: try Self.serverPath(path), tables: tables)
        }
        write = { [hits, server] base, body in
            struct Rollback: Error {}
            let losses = server.state.losses
            var interruption: WriteInterruption?
            do {
                try base.write { transaction in
                    try body(transaction)
                    interruption =
                        server.state.losses == losses
                        ? server.takeCommitFault().map { .commit($0) } : .lostInWrite
                    guard let interruption, !interruption.isCommitted else { return }
                    if case .committingAndRunningAgain = handling(interruption) { return }
                    throw Rollback()
                }
            } catch is Rollback {}
            guard let interruption else { return }
            hits.hit()
            switch handling(interruption) {
            case .throwing(let code): throw StoreError(code, "The connection to the server was lost.")
            case .returning: return
            case .runningAgain, .committingAndRunningAgain: try base.write(body)
            }
        }
    }

    /// Returns the path of the base store, outside the directory of the rule's path.
    private static func serverPath(_ path: String) throws -> String {
        let directory = (path as NSString).deletingLastPathComponent + "-server"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        return directory + "/store"
    }
}

extension MutantServer {
    /// Returns the fault of the next commit, which happens once.
    func takeCommitFault() -> CommitFault? {
        change { state in
            defer { state.nextCommit = nil }
            if state.nextCommit != nil { state.injections += 1 }
            return state.nextCommit
        }
    }

    /// Returns whether the server accepts a new connection.
    fileprivate func acceptConnection() -> Bool {
        change { state in
            if !state.acceptsConnections { state.injections += 1 }
            return state.acceptsConnections
        }
    }
}
