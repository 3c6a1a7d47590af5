// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Something that takes long to prepare, and is prepared once for all rounds of a benchmark.
actor Shared<Value: Sendable> {
    private let make: @Sendable () async throws -> Value
    private var made: Value?

    init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

    func value() async throws -> Value {
        if let made { return made }
        let value = try await make()
        made = value
        return value
    }
}

/// A directory that stays until a benchmark is through.
struct Place: Sendable {
    let directory: URL

    /// The path of a file in the directory that nobody else has asked for.
    func path(_ name: String) -> String {
        directory.appendingPathComponent("\(name)-\(UUID().uuidString.prefix(8))").path
    }
}
