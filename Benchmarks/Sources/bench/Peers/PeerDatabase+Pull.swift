// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import HTTPTypes
import SyncCore

extension PeerDatabase {
    /// Fetches all pages, decodes each with `JSONDecoder`, and stores it with the time of its last row.
    func pull(from transport: any HTTPTransport, url: URL) async throws {
        let decoder = JSONDecoder()
        while true {
            let response = try await transport.send(HTTPTransportRequest(HTTPRequest(url: url)))
            let page = try decoder.decode([ItemRecord].self, from: response.body)
            guard let last = page.last else { return }
            try await pool.write { database in
                for item in page { try item.upsert(database) }
                try database.execute(
                    sql: "INSERT OR REPLACE INTO token VALUES('all', ?)", arguments: [last.updatedAt])
            }
        }
    }
}
