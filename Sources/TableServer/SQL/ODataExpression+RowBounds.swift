// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ODataExpression {
    /// Bounds of the rows that match.
    ///
    /// They need not be the best ones, because every row within them is tested. They are exact for the filters of
    /// incremental pulls: `updatedAt ge T`, and `updatedAt gt T or (updatedAt eq T and id gt I)`.
    var rowBounds: RowBounds {
        var bounds = RowBounds()
        switch self {
        case .comparison(.eq, .column(.id), .literal(.text(let id))) where !id.utf8.contains(0):
            bounds.idEquals = id
        case .comparison(.gt, .column(.id), .literal(.text(let id))) where !id.utf8.contains(0):
            bounds.idAfter = id
        case .comparison(.gt, .column(.updatedAt), .literal(.date(let date))):
            bounds.update = RowBounds.UpdateBound(updatedAt: date, position: .afterAll)
        case .comparison(.ge, .column(.updatedAt), .literal(.date(let date))):
            bounds.update = RowBounds.UpdateBound(updatedAt: date, position: .beforeAll)
        case .comparison(.eq, .column(.updatedAt), .literal(.date(let date))):
            bounds.update = RowBounds.UpdateBound(updatedAt: date, position: .beforeAll)
            bounds.latestUpdate = date
        case .comparison(.lt, .column(.updatedAt), .literal(.date(let date))),
            .comparison(.le, .column(.updatedAt), .literal(.date(let date))):
            bounds.latestUpdate = date
        case .all(let operands):
            for operand in operands { bounds = bounds.intersection(operand.rowBounds) }
            if let keyset = Self.keysetBounds(operands) {
                bounds = bounds.intersection(keyset)
            }
        case .any(let operands):
            let possible = operands.filter { !$0.isTrueForNoRow }
            guard let first = possible.first else { return bounds }
            bounds = possible.dropFirst().reduce(first.rowBounds) { $0.union($1.rowBounds) }
        default:
            break
        }
        return bounds
    }

    /// Whether this matches only rows without `updatedAt`. This server has none.
    private var isTrueForNoRow: Bool {
        if case .comparison(.eq, .column(.updatedAt), .literal(.null)) = self { true } else { false }
    }

    /// Returns the position for `updatedAt eq T and id gt I`, within the rows with `updatedAt` T.
    private static func keysetBounds(_ operands: [ODataExpression]) -> RowBounds? {
        for case .comparison(.eq, .column(.updatedAt), .literal(.date(let date))) in operands {
            for case .comparison(.gt, .column(.id), .literal(.text(let id))) in operands
            where !id.utf8.contains(0) {
                var bounds = RowBounds()
                bounds.update = RowBounds.UpdateBound(updatedAt: date, position: .after(id))
                return bounds
            }
        }
        return nil
    }
}
