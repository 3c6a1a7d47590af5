// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore
import Synchronization

/// Makes the databases of the devices of a run.
public struct SimulatedStorage: Sendable {
    /// Returns a function that opens one device's database with the given tables. A later call closes the database
    /// and opens it with other tables; its content stays.
    let makeDevice: @Sendable () throws -> SimulatedDisk.Open

    /// Storage in databases of other stores.
    ///
    /// - Parameter makeDevice: called for each device. Returns a function that opens the device's database, and, when
    ///   called again, closes it and opens it with other tables.
    public init(
        makeDevice:
            @escaping @Sendable () throws ->
            @Sendable ([SyncTableDefinition]) throws ->
            any SyncContextDataSource
    ) {
        self.makeDevice = makeDevice
    }

    /// Databases in memory.
    public static let memory = SimulatedStorage {
        let disk = MemoryDisk()
        return { try disk.open($0) }
    }

    /// Databases that a function opens, for one run.
    ///
    /// - Parameter open: opens the database of a device, whose number is 1 for the first one. The former store of the
    ///   device is closed before.
    public static func databases(
        _ open: @escaping @Sendable (_ device: Int, [SyncTableDefinition]) throws -> any SyncContextDataSource
    ) -> SimulatedStorage {
        let deviceCount = Mutex(0)
        return SimulatedStorage {
            let device = deviceCount.withLock { count in
                count += 1
                return count
            }
            let current = Mutex<(any SyncContextDataSource)?>(nil)
            return { tables in
                try current.withLock { store in
                    try store?.close()
                    let next = try open(device, tables)
                    store = next
                    return next
                }
            }
        }
    }
}

extension Simulation {
    /// Runs a seed with the app's storage and with another one, and compares every commit and every request.
    ///
    /// - Returns: the first difference; `nil` if the runs are equal.
    /// - Throws: the errors of opening the stores.
    public func difference(seed: UInt64, with storage: SimulatedStorage) throws -> String? {
        var other = self
        other.app.storage = storage
        let (expected, actual) = try (run(seed: seed, isTraced: true), other.run(seed: seed, isTraced: true))
        if let (one, two) = zip(expected.trace, actual.trace).first(where: { $0 != $1 }) {
            return "'\(one)' became '\(two)'."
        }
        if expected.trace.count != actual.trace.count {
            return "One run has \(expected.trace.count) steps, and the other one has \(actual.trace.count)."
        }
        let failures = [expected, actual].map { $0.failure?.description ?? "no failure" }
        return failures[0] == failures[1] ? nil : "'\(failures[0])' became '\(failures[1])'."
    }
}
