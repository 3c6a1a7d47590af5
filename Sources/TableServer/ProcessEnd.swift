// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Ends the process without the exit handlers of its libraries, which free what their threads may still use: a thread that
/// connects to PostgreSQL cannot be interrupted.
package func endProcess(_ status: Int32) -> Never { _exit(status) }
