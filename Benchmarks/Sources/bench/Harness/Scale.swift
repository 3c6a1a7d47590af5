// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The size of the workloads.
enum Scale: Sendable {
    /// The full size, for measurements.
    case full
    /// A reduced size, which shows that the workloads run.
    case quick

    /// Returns the number at this scale. A quick one is a twentieth, rounded to thousands where possible.
    func of(_ number: Int) -> Int {
        switch self {
        case .full: number
        case .quick: number >= 20_000 ? number / 20_000 * 1000 : max(number / 20, 1)
        }
    }
}
