// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The result of one benchmark as text.
struct ConsoleTable {
    private let result: BenchmarkResult

    init(_ result: BenchmarkResult) { self.result = result }

    var text: String {
        let benchmark = result.benchmark
        var lines = ["", "\(benchmark.name): \(benchmark.title)"]
        for figures in result.figures {
            let name = figures.contender.padding(toLength: 22, withPad: " ", startingAt: 0)
            let cost = Quantity.seconds(figures.cost.median)
            lines.append(
                "  \(name) \(cost) each ±\(Quantity.percent(figures.cost.relative)), "
                    + "\(Quantity.count(figures.rate))/s, processor \(Quantity.seconds(figures.processorCost.median))"
                    + Self.latencies(figures)
            )
        }
        for comparison in result.comparisons {
            let name = comparison.ours.padding(toLength: 22, withPad: " ", startingAt: 0)
            let cpu = comparison.processorRatio.map { ", processor \(Quantity.ratio($0))" } ?? ""
            lines.append("  \(name) \(comparison.text)\(cpu)")
        }
        return lines.joined(separator: "\n")
    }

    private static func latencies(_ figures: Figures) -> String {
        let all = figures.samples.compactMap(\.latencies)
        guard !all.isEmpty else { return "" }
        let (half, most) = (Spread(all.map(\.median)), Spread(all.map(\.percentile99)))
        return ", 50 % within \(Quantity.seconds(half.median)), 99 % within \(Quantity.seconds(most.median))"
    }
}

/// Formats numbers with units.
enum Quantity {
    static func seconds(_ value: Double) -> String {
        switch value {
        case 1...: String(format: "%.2f s", value)
        case 1e-3...: String(format: "%.2f ms", value * 1e3)
        case 1e-6...: String(format: "%.2f µs", value * 1e6)
        default: String(format: "%.0f ns", value * 1e9)
        }
    }

    static func count(_ value: Double) -> String {
        switch value {
        case 1e6...: String(format: "%.2f M", value / 1e6)
        case 1e4...: String(format: "%.0f k", value / 1e3)
        case 1e3...: String(format: "%.1f k", value / 1e3)
        default: String(format: "%.0f", value)
        }
    }

    static func percent(_ value: Double) -> String { String(format: "%.0f %%", value * 100) }

    static func ratio(_ value: Double) -> String { String(format: value < 10 ? "%.2f ×" : "%.1f ×", value) }
}
