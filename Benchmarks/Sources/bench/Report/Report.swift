// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The results and the machine.
struct Report {
    let machine: Machine
    let isQuick: Bool
    let results: [BenchmarkResult]

    /// All results as JSON.
    var json: Data {
        get throws {
            let document = Document(
                machine: machine, isQuick: isQuick,
                benchmarks: results.map { result in
                    Document.Entry(
                        name: result.benchmark.name, title: result.benchmark.title,
                        unit: result.benchmark.unit, figures: result.figures,
                        comparisons: result.comparisons)
                })
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(document)
        }
    }

    private struct Document: Encodable {
        let machine: Machine
        let isQuick: Bool
        let benchmarks: [Entry]

        struct Entry: Encodable {
            let name: String
            let title: String
            let unit: String
            let figures: [Figures]
            let comparisons: [Comparison]
        }
    }

    /// Writes `README.md` and a chart for each benchmark into the directory.
    func write(to directory: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for result in results {
            let image = LineChart(result)?.svg ?? BarChart(result).svg
            let file = directory.appendingPathComponent("\(result.benchmark.name).svg")
            try Data(image.utf8).write(to: file)
        }
        let text = MarkdownReport(report: self).text
        try Data(text.utf8).write(to: directory.appendingPathComponent("README.md"))
    }
}
