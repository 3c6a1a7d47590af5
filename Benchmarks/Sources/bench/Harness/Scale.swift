// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How much of a workload is done.
enum Scale: Sendable {
    /// All of it: the figures count.
    case full
    /// As much as shows that it works.
    case quick

    /// The number for this scale; a quick one is a twentieth, in whole thousands where there are any.
    func of(_ number: Int) -> Int {
        switch self {
        case .full: number
        case .quick: number >= 20_000 ? number / 20_000 * 1000 : max(number / 20, 1)
        }
    }
}
