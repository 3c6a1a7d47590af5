// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How much the tests of this target try. They try everything with `THOROUGH=1 swift test --filter HostileInputTests`.
enum Thoroughness {
    static let isFull = ProcessInfo.processInfo.environment["THOROUGH"] != nil

    /// Returns the elements, or every n-th of them.
    static func sample<Element>(_ elements: [Element], every step: Int) -> [Element] {
        isFull ? elements : stride(from: 0, to: elements.count, by: step).map { elements[$0] }
    }
}
