// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore
import Synchronization
import TestSupport

extension SyncSettings {
    /// Settings without retries inside a push, so that a test observes each failed attempt.
    static var singleAttempt: SyncSettings {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        return settings
    }
}

extension SyncSettings {
    /// Settings with a resolver for all tables.
    static func resolving(_ resolver: ConflictResolver) -> SyncSettings {
        var settings = SyncSettings()
        settings.resolver = resolver
        return settings
    }
}

extension PullSettings {
    /// Settings for a pull that does not push first.
    static var withoutPush: PullSettings {
        var settings = PullSettings()
        settings.pending = .pullAnyway
        return settings
    }

    static func pages(of size: Int, overlap: Duration = .zero) -> PullSettings {
        var settings = PullSettings()
        settings.pageSize = size
        settings.overlap = overlap
        return settings
    }
}

extension SyncEnvironment {
    /// Returns an environment without delays and with seeded random numbers.
    static func instant(seed: UInt64) -> SyncEnvironment {
        var environment = SyncEnvironment.instant
        let generator = SharedRandomGenerator(seed: seed)
        environment.random = { generator.next() }
        return environment
    }
}

/// A seeded random generator that closures can share.
final class SharedRandomGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }

    /// Returns a number from 0 up to, but not including, the bound.
    func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
