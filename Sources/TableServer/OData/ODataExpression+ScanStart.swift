// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ODataExpression {
    /// A position in the index before which no row matches.
    ///
    /// It need not be the best position, because every row after it is tested. It is exact for the filters of
    /// incremental pulls: `updatedAt ge T`, and `updatedAt gt T or (updatedAt eq T and id gt I)`.
    var scanStart: ScanStart {
        var start = ScanStart()
        switch self {
        case .comparison(.gt, .column(.id), .literal(.text(let id))):
            start.id = RowKey(id)
        case .comparison(.gt, .column(.updatedAt), .literal(.date(let date))):
            start.update = ScanStart.UpdateBound(updatedAt: date, position: .afterAll)
        case .comparison(.ge, .column(.updatedAt), .literal(.date(let date))),
            .comparison(.eq, .column(.updatedAt), .literal(.date(let date))):
            start.update = ScanStart.UpdateBound(updatedAt: date, position: .beforeAll)
        case .all(let operands):
            for operand in operands { start = start.intersection(operand.scanStart) }
            if let keyset = Self.keysetBound(operands) {
                start = start.intersection(keyset)
            }
        case .any(let operands):
            let possible = operands.filter { !$0.isTrueForNoRow }
            guard let first = possible.first else { return start }
            start = possible.dropFirst().reduce(first.scanStart) { $0.union($1.scanStart) }
        default:
            break
        }
        return start
    }

    /// Whether this matches only rows without `updatedAt`. This server has none.
    private var isTrueForNoRow: Bool {
        if case .comparison(.eq, .column(.updatedAt), .literal(.null)) = self { true } else { false }
    }

    /// Returns the position for `updatedAt eq T and id gt I`, within the rows with `updatedAt` T.
    private static func keysetBound(_ operands: [ODataExpression]) -> ScanStart? {
        for case .comparison(.eq, .column(.updatedAt), .literal(.date(let date))) in operands {
            for case .comparison(.gt, .column(.id), .literal(.text(let id))) in operands {
                var start = ScanStart()
                start.update = ScanStart.UpdateBound(updatedAt: date, position: .after(RowKey(id)))
                return start
            }
        }
        return nil
    }
}
