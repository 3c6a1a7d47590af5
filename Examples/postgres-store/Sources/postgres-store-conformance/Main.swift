// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import PostgresHarness
import StoreConformance
import StoreConformanceCommand

@main struct Main {
    static func main() async { await ConformanceCommand.main(stores: ["postgres": PostgresHarness()]) }
}
