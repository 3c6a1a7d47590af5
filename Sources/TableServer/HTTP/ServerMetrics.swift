// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Counts requests and their durations, in the text format of Prometheus.
final class ServerMetrics: Sendable {
    private let state = Mutex<[Labels: Histogram]>([:])

    /// The labels have few values: a client cannot make new ones.
    private struct Labels: Hashable {
        let method: String
        let table: String
        let status: Int

        var text: String { "method=\"\(method)\",table=\"\(table)\",status=\"\(status)\"" }
    }

    private struct Histogram {
        var buckets = [Int](repeating: 0, count: ServerMetrics.bounds.count)
        var count = 0
        var sum = 0.0
    }

    /// The upper bounds of the buckets, in seconds.
    private static let bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]
    private static let methods: Set<String> = ["GET", "POST", "PATCH", "PUT", "DELETE"]

    /// Counts a request.
    ///
    /// - Parameter table: the name of a table of the server; empty for other paths.
    func record(method: String, table: String, status: Int, seconds: Double) {
        let labels = Labels(
            method: Self.methods.contains(method) ? method : "other", table: table, status: status)
        state.withLock { histograms in
            var histogram = histograms[labels] ?? Histogram()
            histogram.count += 1
            histogram.sum += seconds
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound {
                histogram.buckets[index] += 1
            }
            histograms[labels] = histogram
        }
    }

    /// The response to `GET /metrics`.
    var response: ServerResponse {
        var lines = [
            "# HELP table_server_request_seconds The time from a request's body to its response.",
            "# TYPE table_server_request_seconds histogram",
        ]
        let histograms = state.withLock { $0 }
        for (labels, histogram) in histograms.sorted(by: { $0.key.text < $1.key.text }) {
            let name = "table_server_request_seconds"
            for (bound, count) in zip(Self.bounds, histogram.buckets) {
                lines.append("\(name)_bucket{\(labels.text),le=\"\(bound)\"} \(count)")
            }
            lines.append("\(name)_bucket{\(labels.text),le=\"+Inf\"} \(histogram.count)")
            lines.append("\(name)_sum{\(labels.text)} \(histogram.sum)")
            lines.append("\(name)_count{\(labels.text)} \(histogram.count)")
        }
        return ServerResponse(
            status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
            body: Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}
