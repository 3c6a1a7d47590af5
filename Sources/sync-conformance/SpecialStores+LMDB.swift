// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreLMDB

extension SpecialStores {
    /// Small files, and files of a newer format.
    static let lmdb = SpecialStores(
        openSmall: { path, tables in try LMDBStore(path: path, tables: tables, maximumSize: 8 << 20) },
        makeNewer: { path in
            let file = URL(fileURLWithPath: path)
            var contents = try Data(contentsOf: file)
            let layout = Data("swift-sync-context".utf8)
            var start = contents.startIndex
            // The version follows the name of the layout, also in pages of earlier transactions.
            while let name = contents.range(of: layout, in: start..<contents.endIndex) {
                contents[name.upperBound] += 1
                start = name.upperBound
            }
            try contents.write(to: file)
        })
}
