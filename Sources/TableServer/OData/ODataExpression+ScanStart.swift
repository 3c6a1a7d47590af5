// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ODataExpression {
    /// A place before which the condition is true for no row.
    ///
    /// It need not be the best one: every row after it is still tested. What counts is that the filters of
    /// incremental pulls, `updatedAt ge T` and `updatedAt gt T or (updatedAt eq T and id gt I)`, find theirs.
    var scanStart: ScanStart {
        var start = ScanStart()
        switch self {
        case .comparison(.gt, .column(.id), .literal(.text(let id))):
            start.id = RowKey(id)
        case .comparison(.gt, .column(.updatedAt), .literal(.date(let date))):
            start.update = ScanStart.UpdateBound(updatedAt: date, place: .afterAll)
        case .comparison(.ge, .column(.updatedAt), .literal(.date(let date))),
            .comparison(.eq, .column(.updatedAt), .literal(.date(let date))):
            start.update = ScanStart.UpdateBound(updatedAt: date, place: .beforeAll)
        case .all(let operands):
            for operand in operands { start = start.intersection(operand.scanStart) }
            if let tied = Self.tiedBound(operands) {
                start = start.intersection(tied)
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

    /// Whether this asks for rows without `updatedAt`, which this server does not have.
    private var isTrueForNoRow: Bool {
        if case .comparison(.eq, .column(.updatedAt), .literal(.null)) = self { true } else { false }
    }

    /// `updatedAt eq T and id gt I` begins inside the rows that share T.
    private static func tiedBound(_ operands: [ODataExpression]) -> ScanStart? {
        for case .comparison(.eq, .column(.updatedAt), .literal(.date(let date))) in operands {
            for case .comparison(.gt, .column(.id), .literal(.text(let id))) in operands {
                var start = ScanStart()
                start.update = ScanStart.UpdateBound(updatedAt: date, place: .after(RowKey(id)))
                return start
            }
        }
        return nil
    }
}
