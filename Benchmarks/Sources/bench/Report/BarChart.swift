// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An SVG bar chart of the cost of each contender.
struct BarChart {
    private let result: BenchmarkResult

    init(_ result: BenchmarkResult) { self.result = result }

    var svg: String {
        let (rowHeight, labelWidth, barWidth) = (22, 150, 420)
        let longest = result.figures.map(\.cost.highest).max() ?? 1
        func width(_ cost: Double) -> Int { max(1, Int(cost / longest * Double(barWidth))) }
        var rows = ""
        for (index, figures) in result.figures.enumerated() {
            let (top, cost) = (index * rowHeight, figures.cost)
            let end = labelWidth + width(cost.median)
            rows += """
                <text x="\(labelWidth - 6)" y="\(top + 15)" text-anchor="end">\(figures.contender)</text>
                <rect x="\(labelWidth)" y="\(top + 4)" width="\(width(cost.median))" height="14" \
                fill="\(color(of: figures.contender))"/>
                <path d="M\(labelWidth + width(cost.lowest)) \(top + 11)H\(labelWidth + width(cost.highest))" \
                stroke="#222" stroke-width="1.5"/>
                <text x="\(max(end, labelWidth + width(cost.highest)) + 6)" y="\(top + 15)">\
                \(Quantity.seconds(cost.median))</text>

                """
        }
        return SVG.document(width: 680, height: result.figures.count * rowHeight + 4, rows)
    }

    private func color(of contender: String) -> String {
        if result.benchmark.lines.contains(where: { $0.ours == contender }) { return "#2f6fb0" }
        return contender.hasPrefix("floor") || contender.hasPrefix("bare") ? "#9aa4ad" : "#d98b2b"
    }
}

/// The frame of all charts.
enum SVG {
    static func document(width: Int, height: Int, _ content: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" \
        height="\(height)" font-family="sans-serif" font-size="12" fill="#222">
        <rect width="\(width)" height="\(height)" fill="#fff"/>
        \(content)</svg>

        """
    }
}
