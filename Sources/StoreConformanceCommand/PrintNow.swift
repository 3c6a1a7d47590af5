// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints a line and flushes it, because checking all rules takes long, and a store can end the process.
func printNow(_ line: String) {
    print(line)
    fflush(nil)
}
