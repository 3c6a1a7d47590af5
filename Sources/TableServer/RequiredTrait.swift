// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if !TableServer
    #error("Enable the trait 'TableServer' of the package swift-sync-context.")
#endif
