// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The number of files and sockets that this process can have open.
package enum DescriptorLimit {
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    private static let defaultLimit: rlim_t = 1024

    /// The number of connections that leave descriptors for the database and the log. More connections wait until others end.
    static var connections: Int {
        var limit = rlimit()
        let count = getrlimit(resource, &limit) == 0 ? limit.rlim_cur : defaultLimit
        return max(64, Int(clamping: count) - 128)
    }

    /// Raises the limit to what the system permits without privileges.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        #if canImport(Darwin)
            // The system refuses more than OPEN_MAX.
            let permitted = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
            let permitted = limit.rlim_max
        #endif
        guard limit.rlim_cur < permitted else { return }
        limit.rlim_cur = permitted
        _ = setrlimit(resource, &limit)
    }
}
