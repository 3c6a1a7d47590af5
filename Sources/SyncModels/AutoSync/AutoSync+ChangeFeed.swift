// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

extension AutoSync {
    /// Takes the changes in the server's change feed as hints, until the task is cancelled or the server turns out to have no
    /// change feed.
    func followServer() async {
        let tables = Set(plans.map(\.query.table)).sorted()
        var mark: String?
        var failures = 0
        while !Task.isCancelled, !context.isClosed {
            guard control.withLock({ $0.schedule.isInForeground }) else {
                await feedWakeup.wait(atMost: nil, in: context.environment)
                continue
            }
            do {
                if let change = try await context.client.nextChange(in: tables, after: mark) {
                    mark = change.mark
                    signal(.serverHint(tables: change.tables))
                }
                failures = 0
                // One round follows the changes of this time, so one request is enough for them.
                try await context.environment.sleep(settings.pushDelay)
            } catch let error as SyncError where error.meansNoFeed {
                return
            } catch {
                await feedWakeup.wait(
                    atMost: settings.backoff(failures: failures, jitter: jitter), in: context.environment)
                failures += 1
            }
        }
    }
}

extension SyncError {
    /// Whether the server has no change feed. To such a server, `changes` is the id of a row.
    fileprivate var meansNoFeed: Bool {
        code == .tableNotOnServer || !mayRetry && [.serverError, .serverErrorWithoutMessage].contains(code)
    }
}
