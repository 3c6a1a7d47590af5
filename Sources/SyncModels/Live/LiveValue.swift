// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension SyncContext {
    /// Returns the values of a read of several tables: the current one, and a new one after each commit that may change
    /// it.
    ///
    /// ```swift
    /// for try await open in context.live({ try $0.count(Todo.where { !$0.complete }) }) { show(open) }
    /// ```
    ///
    /// The body is run again when a commit may change the result of one of its queries, or an item that it asked for. Its
    /// queries may differ in each run.
    ///
    /// - Throws: while iterating, the errors of the body.
    public func live<T: Sendable>(
        _ body: @escaping @Sendable (LocalReader) throws -> T
    ) -> LiveValue<T> {
        LiveValue(context: self, body: body) { _, _ in false }
    }

    /// Returns the values of a read of several tables, as `live(_:)` does for types that are not `Equatable`, without those that
    /// equal the previous one.
    ///
    /// - Throws: while iterating, the errors of the body.
    public func live<T: Sendable & Equatable>(
        _ body: @escaping @Sendable (LocalReader) throws -> T
    ) -> LiveValue<T> {
        LiveValue(context: self, body: body) { $0 == $1 }
    }
}

/// The sequence of the values of a read: see `SyncContext.live`.
public struct LiveValue<Value: Sendable>: AsyncSequence, Sendable {
    let context: SyncContext
    let body: @Sendable (LocalReader) throws -> Value
    let isSame: @Sendable (Value, Value) -> Bool

    /// Makes an iterator whose first element is the current value.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Waits for commits and reads the value again.
    public struct Iterator: AsyncIteratorProtocol {
        private var observation: ReadObservation<Value>
        private var last: Value?
        private let isSame: @Sendable (Value, Value) -> Bool

        init(_ live: LiveValue) {
            isSame = live.isSame
            let (context, body) = (live.context, live.body)
            observation = ReadObservation(in: context) { snapshot in
                try body(LocalReader(snapshot: snapshot, context: context))
            }
        }

        /// Returns the next value; `nil` after the context has closed or the task is cancelled.
        public mutating func next() async throws -> Value? {
            while let value = try await observation.next() {
                if let last, isSame(last, value) { continue }
                last = value
                return value
            }
            return nil
        }
    }
}
