// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if !AsyncHTTPTransport
    #error("Enable the trait 'AsyncHTTPTransport' of the package swift-sync-context.")
#endif
