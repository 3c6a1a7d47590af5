// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The measurements of one contender.
struct Figures: Sendable, Codable {
    let contender: String
    let size: Int?
    let count: Int
    let samples: [Sample]

    /// Wall-clock seconds per unit of work.
    var cost: Spread { Spread(samples.map { $0.wall / Double(count) }) }

    /// Seconds of processor time per unit of work, over all processors.
    var processorCost: Spread { Spread(samples.map { $0.cpu / Double(count) }) }

    /// Units of work per second.
    var rate: Double { 1 / cost.median }

    /// Returns how many times as fast this contender is as another. The ratio is computed for each round, because both
    /// then ran under the same conditions.
    func speed(against other: Figures, by time: KeyPath<Sample, Double> = \.wall) -> Spread {
        let ratios = zip(samples, other.samples).map { mine, others in
            (others[keyPath: time] / Double(other.count)) / (mine[keyPath: time] / Double(count))
        }
        return Spread(Array(ratios))
    }
}

/// The median of values, with the lowest and the highest.
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

    /// Half the range, relative to the median.
    var relative: Double { (highest - lowest) / 2 / median }
}
