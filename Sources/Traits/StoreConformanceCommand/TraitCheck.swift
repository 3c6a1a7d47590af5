// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if !StoreConformanceCommand
    #error(
        "Add traits: [\"StoreConformanceCommand\"] to the .package line of swift-sync-context in your Package.swift"
    )
#endif
