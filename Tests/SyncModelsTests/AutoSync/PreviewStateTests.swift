// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import SyncModels
import Testing

/// An app makes states for the previews and tests of its user interface.
@Suite struct PreviewStateTests {
    @Test func `a made state has what the app passes, and is otherwise that of a new sync`() {
        let state = AutoSync.State(
            phase: .offline, pending: 3, lastError: SyncError(.networkUnavailable, "No network."))
        #expect(state.phase == .offline)
        #expect(state.pending == 3)
        #expect(state.lastError?.code == .networkUnavailable)
        #expect(state.conflicts == 0 && state.parked == 0 && state.unreadable.isEmpty)
        #expect(AutoSync.State() == AutoSync.State(phase: .stopped))
        #expect(AutoSync.State(pending: 1) != AutoSync.State())
    }

    @Test func `a made status has what the app passes`() {
        let status = SyncStatus(pendingOperations: 2, conflictingOperations: 1, isPushing: true)
        #expect(status.pendingOperations == 2)
        #expect(status.conflictingOperations == 1)
        #expect(status.isPushing && !status.isPulling)
    }
}
