// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How one model server behaves; drawn from the seed.
struct ModelServerTraits: Sendable {
    var dialect = ModelDialect.v2
    /// Whether deleted rows stay as tombstones.
    var hasSoftDelete = true
    /// The greatest number of rows in a page.
    var pageCap = 50
    /// How many fraction digits of `updatedAt` the server keeps.
    var keptDigits = 3
    /// How many of them it shows.
    var shownDigits = 3
    /// Whether versions restart when a row is inserted again after it was deleted for good.
    var restartsVersions = false
    /// Whether a 409 to an insert has the server's row instead of an echo of the request.
    var showsRowInConflict = false
    /// Whether the server takes rows out of a page after it was limited, so that pages are short before the end.
    var shortensPages = false
    /// Whether responses have a `Date`.
    var sendsDate = true
    /// Whether the server computes the column `stamp` with every change.
    var hasHook = false
    /// Whether other users write a column that the app does not declare.
    var hasUndeclaredColumn = false
    /// Whether null is ordered after all values.
    var ordersNullsLast = false
    /// Whether some rows have no `updatedAt` until they are changed.
    var hasUndatedRows = false
    /// Whether other users write rows with an `updatedAt` in the future.
    var hasFutureRows = false
    /// Whether some rows have had values that their columns cannot hold.
    var hasUnreadableRows = false
    /// Whether the server refuses filters by null.
    var refusesNullFilters = false
    /// Whether the server ignores `If-Match`: a broken server, whose lost updates the simulation must find.
    var ignoresConditions = false
    /// Whether the clock may step back, and other writers may commit late.
    var hasUnsteadyClock = false

    static func draw(_ random: inout SimulationRandom) -> ModelServerTraits {
        var traits = ModelServerTraits()
        traits.hasSoftDelete = random.percent(60)
        traits.pageCap = random.pick([1, 2, 3, 50])
        // A coarse clock gives several rows the same time.
        traits.keptDigits = random.pick([0, 1, 3, 3, 7, 7])
        traits.shownDigits = traits.keptDigits == 7 && random.percent(40) ? 3 : traits.keptDigits
        traits.restartsVersions = random.percent(50)
        traits.showsRowInConflict = random.percent(50)
        traits.shortensPages = random.percent(15)
        traits.sendsDate = random.percent(85)
        traits.hasHook = random.percent(30)
        traits.ordersNullsLast = random.percent(50)
        traits.hasUnsteadyClock = random.percent(10)
        traits.hasUndatedRows = random.percent(15)
        // Without `Date`, a client does not know which rows are in the future.
        traits.hasFutureRows = random.percent(10) && traits.sendsDate && !traits.hasUnsteadyClock
        // Rows without `updatedAt` behind all others could not be read without that filter.
        traits.refusesNullFilters = !traits.ordersNullsLast && random.percent(20)
        return traits
    }
}
