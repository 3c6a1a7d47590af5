// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A call that waits for a closure of the app. The same call in that closure would wait for itself.
///
/// The tasks that the closure starts know the call too. They can outlive it.
final class RunningCall: Sendable {
    @TaskLocal private static var ofTask: [RunningCall] = []

    private let object: ObjectIdentifier
    private let state = Mutex(true)

    private init(_ object: ObjectIdentifier) { self.object = object }

    private var isRunning: Bool { state.withLock(\.self) }

    private func end() { state.withLock { $0 = false } }

    /// Whether the current task is part of a call of the object that is still running.
    static func isRunning(of object: AnyObject) -> Bool {
        ofTask.contains { $0.object == ObjectIdentifier(object) && $0.isRunning }
    }

    /// Runs the body as a call of the object.
    static func run<T>(of object: AnyObject, _ body: () async throws -> T) async rethrows -> T {
        let call = RunningCall(ObjectIdentifier(object))
        defer { call.end() }
        return try await $ofTask.withValue(ofTask.filter(\.isRunning) + [call], operation: body)
    }

    /// Runs a closure of the app that cannot wait for a call, so that the tasks that it starts are part of none.
    static func runWithoutCalls(_ body: () -> Void) {
        $ofTask.withValue([], operation: body)
    }
}
