// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

extension AutoSync {
    /// What the sync may ask the change feed for.
    struct Followed: Equatable {
        /// The tables of the plans that are valid, without those that the server does not have, does not show, or shows after a
        /// sign-in.
        var tables: [String]
        /// Whether each of these tables has been pulled.
        var areKnown: Bool
        /// From when on the sync may ask; `nil` is after the next event.
        var time: Duration?
    }

    /// Takes the changes in the server's change feed as hints, until the task is cancelled or the server turns out to have no
    /// change feed.
    func followServer() async {
        var (tables, mark): ([String], String?) = ([], nil)
        var (failures, hasAnswered, refusesMarks) = (0, false, false)
        while !Task.isCancelled, !context.isClosed {
            let (followed, signIns) = control.withLock { control in
                (self.followed(&control), control.schedule.signIns)
            }
            guard let time = followed.time, time <= now, !followed.tables.isEmpty else {
                await wait(for: feedWakeup, until: followed.tables.isEmpty ? nil : followed.time)
                continue
            }
            // A mark is valid for the tables of its request only.
            if followed.tables != tables { (tables, mark) = (followed.tables, nil) }
            let hasMark = mark != nil
            do {
                let change = try await context.client.nextChange(in: tables, after: mark)
                recordFeed(nil, signIns)
                if let change {
                    mark = change.mark
                    signal(.serverHint(tables: change.tables))
                }
                hasAnswered = true
                // The answer to a request without a mark does not show that the server accepts marks again.
                if hasMark { refusesMarks = false }
                if !refusesMarks { failures = 0 }
                // One round follows the changes of this time, so one request is enough for them.
                try await context.environment.sleep(settings.pushDelay)
            } catch let error as SyncError where error.isRefusal && hasAnswered {
                // The server no longer has or shows one of the tables, which the pulls find, or does not know the mark.
                refusesMarks = hasMark
                mark = nil
                recordFeed(nil, signIns)
                signal(.serverHint(tables: Set(tables)))
                await pauseFeed(after: &failures)
            } catch let error as SyncError where error.showsNoChangeFeed && !hasAnswered {
                // A server without a change feed takes `changes` for the id of a row, and may have that row.
                if error.isRefusal { recordFeed(nil, signIns) }
                guard await findOtherTables(than: tables) else { return }
            } catch {
                if let error = error as? SyncError {
                    // A header cannot hold the mark.
                    if error.code == .invalidRequest { (mark, refusesMarks) = (nil, true) }
                    let failure = RoundFailure(error)
                    recordFeed(failure, signIns)
                    if failure == .unauthenticated { signal(.serverHint(tables: Set(tables))) }
                }
                await pauseFeed(after: &failures)
            }
        }
    }

    /// Records an answer to a request, or why the request failed, and decides about rounds again.
    private func recordFeed(_ failure: RoundFailure?, _ signIns: Int) {
        control.withLock { control in
            control.schedule.recordFeed(failure, signIns: signIns, at: now)
            control.isFeedWithoutServer = failure == .unavailable(retryAfter: nil)
        }
        wakeup.signal()
    }

    /// Waits before the next request. A round that reaches the server ends the wait if the last request has found none, but not
    /// after a refusal, which leads to a round: the server may refuse the feed alone.
    private func pauseFeed(after failures: inout Int) async {
        await feedWakeup.wait(
            atMost: settings.backoff(failures: failures, jitter: jitter), in: context.environment)
        failures += 1
    }

    /// Waits until the pulls show which of the tables the server has. Returns `false` if it has all of them, and thus no change
    /// feed.
    private func findOtherTables(than tables: [String]) async -> Bool {
        while !Task.isCancelled, !context.isClosed {
            let followed = control.withLock { self.followed(&$0) }
            if followed.tables != tables { return true }
            if followed.areKnown { return false }
            await feedWakeup.wait(atMost: nil, in: context.environment)
        }
        return false
    }

    func followed(_ control: inout Control) -> Followed {
        func tablesOfPlans(_ isIncluded: (Int) -> Bool) -> Set<String> {
            Set(plans.indices.filter(isIncluded).map { plans[$0].query.table })
        }
        let (failed, pulled) = (control.failedPlans, control.pulledPlans)
        let tables = tablesOfPlans { index in
            !control.schedule.needsSignIn(index)
                && failed[index].map { !$0.error.isRefusal && !$0.error.isOfPlan } ?? true
        }
        return Followed(
            tables: tables.sorted(), areKnown: tables.isSubset(of: tablesOfPlans(pulled.contains)),
            time: control.schedule.feedTime(at: now))
    }
}
