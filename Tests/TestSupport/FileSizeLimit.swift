// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation
import SyncCore

/// Sets the greatest size of files that this process writes, and returns the previous one.
///
/// It simulates a full disk: a write beyond the limit fails, and does not end the process.
package func setFileSizeLimit(_ size: rlim_t) throws -> rlim_t {
    signal(SIGXFSZ, SIG_IGN)
    #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        let resource = RLIMIT_FSIZE
    #endif
    var limits = rlimit()
    guard getrlimit(resource, &limits) == 0 else {
        throw StoreError(.inputOutput, "The limit is unknown.")
    }
    let previous = limits.rlim_cur
    limits.rlim_cur = size
    guard setrlimit(resource, &limits) == 0 else {
        throw StoreError(.inputOutput, "The limit cannot be set.")
    }
    return previous
}
