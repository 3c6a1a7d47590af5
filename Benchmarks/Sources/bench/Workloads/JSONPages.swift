// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Parses pages of rows without storing them.
enum JSONPages {
    static func decoding() -> Benchmark {
        let pages = CannedPages.pages(of: (0..<10_000).map { TodoRow($0) }, size: 50)
        let bytes = pages.reduce(0) { $0 + $1.count }
        return Benchmark(
            name: "json.page",
            title: "Parse \(pages.count) pages of 50 rows, \(bytes / 10_000) bytes per row",
            count: bytes, unit: "byte",
            contenders: [
                Contender("values") { trial in
                    try await trial.measure {
                        try pages.reduce(0) { sum, page in
                            guard case .array(let rows) = try ItemValue(json: page) else { return sum }
                            return sum + rows.count
                        }
                    }
                },
                Contender("JSONDecoder") { trial in
                    try await trial.measure {
                        let decoder = JSONDecoder()
                        return try pages.reduce(0) {
                            try $0 + decoder.decode([ItemRecord].self, from: $1).count
                        }
                    }
                },
                Contender("JSONSerialization") { trial in
                    try await trial.measure {
                        try pages.reduce(0) { sum, page in
                            let rows = try JSONSerialization.jsonObject(with: page) as? [Any]
                            return sum + (rows?.count ?? 0)
                        }
                    }
                },
            ], lines: [ReportLine("values", peer: "JSONDecoder")])
    }
}
