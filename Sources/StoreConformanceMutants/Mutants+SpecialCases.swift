// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors of stores in special situations.
    @MutantList static var specialCases: [StoreMutant] {
        StoreMutant(
            .capability, "full-as-io", "A write that exceeds the available space throws inputOutput.",
            killedBy: "error.full", message: "StoreError.full"
        ) { flaw in
            flaw.limitSpace(refusingWith: .inputOutput)
        }
        StoreMutant(
            .capability, "full-keeps-part", "A write that exceeds the available space keeps what fits.",
            killedBy: "error.full", message: "the store after the write 1"
        ) { flaw in
            flaw.limitSpace()
            flaw.write = { [hits = flaw.hits] base, body in
                var refusal: StoreError?
                try base.write { transaction in
                    do { try body(transaction) } catch let error as StoreError where error.code == .full {
                        hits.hit()
                        refusal = error
                    }
                }
                if let refusal { throw refusal }
            }
        }
        StoreMutant(
            .capability, "full-for-ever", "After a write that exceeds the space, all writes throw full.",
            killedBy: "error.full", message: "no error"
        ) { flaw in
            flaw.limitSpace()
            let isFull = Shared(false)
            flaw.write = { [hits = flaw.hits] base, body in
                if isFull.value {
                    hits.hit()
                    throw StoreError(.full, "The store was full.")
                }
                do { try base.write(body) } catch let error as StoreError where error.code == .full {
                    isFull.change { $0 = true }
                    throw error
                }
            }
        }
        StoreMutant(
            .capability, "refused-as-io", "An item that a constraint refuses throws inputOutput.",
            killedBy: "app.refused-item", message: "StoreError.schemaMismatch"
        ) { flaw in
            flaw.refuseItems(with: .inputOutput)
        }
        StoreMutant(
            .capability, "refused-in-part", "An item that a constraint refuses is stored without its label.",
            killedBy: "app.refused-item", message: "in the transaction that refused it"
        ) { flaw in
            flaw.refuseItems { [hits = flaw.hits] transaction, item, table in
                hits.hit()
                var rest = item
                rest["label"] = nil
                try transaction.upsert([rest], in: table)
            }
        }
        StoreMutant(
            .capability, "refused-ends", "A transaction with a refused item is rolled back at its end.",
            killedBy: "app.refused-item", message: "the ids after the commits"
        ) { flaw in
            struct Rollback: Error {}
            let hasRefused = Shared(false)
            flaw.refuseItems { _, _, _ in hasRefused.change { $0 = true } }
            flaw.write = { [hits = flaw.hits] base, body in
                hasRefused.change { $0 = false }
                do {
                    try base.write { transaction in
                        try body(transaction)
                        if hasRefused.value { throw Rollback() }
                    }
                } catch is Rollback {
                    hits.hit()
                }
            }
        }
        StoreMutant(
            .capability, "app-unreported", "Commits of the app are not reported.",
            killedBy: "app.external-commit", message: "after the external commit 1"
        ) { flaw in
            flaw.reportAppCommits()
            flaw.onExternalCommit = { [hits = flaw.hits] _, _ in hits.hit() }
        }
        StoreMutant(
            .capability, "app-reported-once", "Only the first commit of the app is reported.",
            killedBy: "app.external-commit", message: "after the external commit 2"
        ) { flaw in
            flaw.reportAppCommits()
            flaw.onExternalCommit = { [hits = flaw.hits, app = flaw.app] _, handler in
                let calls = Shared(0)
                app.add { if calls.next() == 1 { handler() } else { hits.hit() } }
            }
        }
        StoreMutant(
            .opening, "newer-opened", "A file of a newer format is opened.", killedBy: "open.newer-format",
            message: "no error", needsDurableStore: true
        ) { flaw in
            flaw.detectNewerFiles { [hits = flaw.hits] _ in hits.hit() }
        }
        StoreMutant(
            .opening, "newer-as-corrupt", "A file of a newer format is reported as corrupt.",
            killedBy: "open.newer-format", message: "StoreError.newerFormat", needsDurableStore: true
        ) { flaw in
            flaw.detectNewerFiles { [hits = flaw.hits] _ in
                hits.hit()
                throw StoreError(.corrupt, "The file is not a store.")
            }
        }
        StoreMutant(
            .opening, "newer-changed", "A file of a newer format is changed before it is refused.",
            killedBy: "open.newer-format", message: "the file of a newer format after",
            needsDurableStore: true
        ) { flaw in
            flaw.detectNewerFiles { [hits = flaw.hits] path in
                hits.hit()
                Files.make(path, (FileManager.default.contents(atPath: path) ?? Data()) + Data([0]))
                throw StoreError(.newerFormat, "A newer version has written the file.")
            }
        }
    }
}
