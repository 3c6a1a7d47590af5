// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_exported public import SyncCore
