// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if !StoreConformanceCommand
    #error("Enable the trait 'StoreConformanceCommand' of the package swift-sync-context.")
#endif
