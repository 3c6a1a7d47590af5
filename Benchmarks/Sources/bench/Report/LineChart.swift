// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An SVG line chart of cost against size, with a line for each store. The axis of sizes is logarithmic.
struct LineChart {
    private let result: BenchmarkResult
    private let sizeName: String

    private static let colors = ["#2f6fb0", "#2e8b57", "#d98b2b", "#8a4fa3"]
    private let plot = (left: 70.0, top: 14.0, width: 460.0, height: 200.0)

    /// Returns `nil` when the benchmark does not vary the size.
    init?(_ result: BenchmarkResult) {
        guard let sizeName = result.benchmark.sizeName else { return nil }
        self.result = result
        self.sizeName = sizeName
    }

    var svg: String {
        let sizes = Set(result.figures.compactMap(\.size)).sorted()
        let highest = result.figures.map(\.cost.highest).max() ?? 1
        func x(_ size: Int) -> Double {
            let range = log10(Double(max(sizes.last ?? 1, 10)))
            return plot.left + plot.width * (size == 0 ? 0 : log10(Double(size)) / range)
        }
        func y(_ cost: Double) -> Double { plot.top + plot.height * (1 - cost / highest) }
        var content = axes(sizes.map { ($0, x($0)) }, highest: highest)
        let series = Dictionary(grouping: result.figures) { $0.contender.components(separatedBy: " at ")[0] }
        for (index, (name, figures)) in series.sorted(by: { $0.key < $1.key }).enumerated() {
            let color = Self.colors[index % Self.colors.count]
            let points = figures.compactMap { figures in
                figures.size.map { (x: x($0), y: y(figures.cost.median)) }
            }
            let path = points.map { "\(Int($0.x)),\(Int($0.y))" }.joined(separator: " ")
            content += "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>\n"
            for point in points {
                content +=
                    "<circle cx=\"\(Int(point.x))\" cy=\"\(Int(point.y))\" r=\"3\" fill=\"\(color)\"/>\n"
            }
            let end = points.last ?? (x: plot.left, y: plot.top)
            content +=
                "<text x=\"\(Int(end.x) + 8)\" y=\"\(Int(end.y) + 4)\" fill=\"\(color)\">\(name)</text>\n"
        }
        return SVG.document(width: 640, height: 270, content)
    }

    private func axes(_ ticks: [(size: Int, x: Double)], highest: Double) -> String {
        let (left, bottom) = (Int(plot.left), Int(plot.top + plot.height))
        var axes = """
            <path d="M\(left) \(Int(plot.top))V\(bottom)H\(left + Int(plot.width))" fill="none" stroke="#666"/>
            <text x="\(left + Int(plot.width) / 2)" y="\(bottom + 40)" text-anchor="middle">\(sizeName)</text>

            """
        for (size, x) in ticks {
            let text = Quantity.count(Double(size))
            axes += "<text x=\"\(Int(x))\" y=\"\(bottom + 18)\" text-anchor=\"middle\">\(text)</text>\n"
        }
        for share in [0, 0.5, 1] {
            let y = Int(plot.top + plot.height * (1 - share))
            let text = Quantity.seconds(highest * share)
            axes += "<text x=\"\(left - 6)\" y=\"\(y + 4)\" text-anchor=\"end\">\(text)</text>\n"
        }
        return axes
    }
}
