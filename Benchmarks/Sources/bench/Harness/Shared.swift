// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value that is expensive to create, and is created once for all rounds of a benchmark.
actor Shared<Value: Sendable> {
    private let make: @Sendable () async throws -> Value
    private var created: Value?

    init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

    func value() async throws -> Value {
        if let created { return created }
        let value = try await make()
        created = value
        return value
    }
}

/// A directory that exists until the end of a benchmark.
struct SharedDirectory: Sendable {
    let url: URL

    /// Returns a unique path in the directory.
    func path(_ name: String) -> String {
        url.appendingPathComponent("\(name)-\(UUID().uuidString.prefix(8))").path
    }
}
