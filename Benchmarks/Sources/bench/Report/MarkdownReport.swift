// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The results as a Markdown page with charts.
struct MarkdownReport {
    let report: Report

    var text: String {
        let chapters = report.results.map(chapter).joined(separator: "\n")
        return """
            # Benchmarks

            \(report.machine)

            Costs are medians of interleaved rounds; the spread is half the range. Ratios are medians of the ratios of \
            each round. The *floor* is hand-written code with only the database's own calls. The *peer* is a \
            hand-written app with GRDB and Codable. Other programs have the least influence on the ratio of processor \
            times.
            \(report.isQuick ? "\n**A quick run: its figures are not representative.**\n" : "")
            ## Goals

            | benchmark | ours | measured | spread | processor | goal | |
            |---|---|---|---|---|---|---|
            \(goals)

            \(chapters)
            """
    }

    private var goals: String {
        report.results.flatMap { result in
            result.comparisons.filter { $0.goal != nil }.map { "| \(result.benchmark.name) | " + $0.cells }
        }.joined(separator: "\n")
    }

    private func chapter(_ result: BenchmarkResult) -> String {
        let benchmark = result.benchmark
        let costs = result.figures.map { figures in
            "| \(figures.contender) | \(Quantity.seconds(figures.cost.median)) "
                + "| ±\(Quantity.percent(figures.cost.relative)) | \(Quantity.count(figures.rate)) "
                + "| \(Quantity.seconds(figures.processorCost.median)) |"
        }
        let comparisons = result.comparisons.map { "- \($0.ours): \($0.text)" }
        return """
            ## \(benchmark.name)

            \(benchmark.title). Costs are for one \(benchmark.unit).

            ![](\(benchmark.name).svg)

            | | cost | spread | per second | processor |
            |---|---|---|---|---|
            \(costs.joined(separator: "\n"))

            \(comparisons.joined(separator: "\n"))

            """
    }
}

extension Comparison {
    fileprivate var cells: String {
        "\(ours) | \(format(value)) \(other) | \(format(lowest)) … \(format(highest)) "
            + "| \(processorRatio.map(Quantity.ratio) ?? "") | \(goal ?? "") "
            + "| \(isReached.map { $0 ? "reached" : "**missed**" } ?? "") |"
    }
}
