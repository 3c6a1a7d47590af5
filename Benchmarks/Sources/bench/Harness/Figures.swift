// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The runs of one contender, and what is said of them.
struct Figures: Sendable, Codable {
    let contender: String
    let size: Int?
    let count: Int
    let samples: [Sample]

    /// Seconds for one thing, by the wall clock.
    var cost: Spread { Spread(samples.map { $0.wall / Double(count) }) }

    /// Seconds of processor time for one thing, over all processors.
    var processorCost: Spread { Spread(samples.map { $0.cpu / Double(count) }) }

    /// Things in a second.
    var rate: Double { 1 / cost.median }

    /// How many times as fast this contender was as another one: run by run, since both met the same machine.
    func speed(against other: Figures, by time: KeyPath<Sample, Double> = \.wall) -> Spread {
        let ratios = zip(samples, other.samples).map { mine, others in
            (others[keyPath: time] / Double(other.count)) / (mine[keyPath: time] / Double(count))
        }
        return Spread(Array(ratios))
    }
}

/// Some values as their median with the lowest and highest.
struct Spread: Sendable {
    let median: Double
    let lowest: Double
    let highest: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        median =
            switch sorted.count {
            case 0: .nan
            case let count where count.isMultiple(of: 2): (sorted[middle - 1] + sorted[middle]) / 2
            default: sorted[middle]
            }
        lowest = sorted.first ?? .nan
        highest = sorted.last ?? .nan
    }

    /// Half the distance between lowest and highest, as a share of the median.
    var relative: Double { (highest - lowest) / 2 / median }
}
