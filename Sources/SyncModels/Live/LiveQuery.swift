// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
    public import SwiftUI
    public import SyncCore

    /// The models of a query in a SwiftUI view.
    ///
    /// ```swift
    /// @LiveQuery(Todo.where { !$0.complete }.order(by: \.text)) private var todos
    /// ```
    ///
    /// The view's environment has the context: `.environment(\.syncContext, context)`. Without one the list is empty.
    @MainActor @propertyWrapper public struct LiveQuery<Model: SyncModel>: DynamicProperty {
        @Environment(\.syncContext) private var context
        @State private var holder = ListHolder<Model>()
        private let query: ModelQuery<Model>
        private let first: FirstPage
        private let showsSyncStates: Bool

        /// Follows the query while the view exists.
        ///
        /// - Parameters:
        ///   - first: how the first page is read.
        ///   - showsSyncStates: whether the pages of the list know the sync states of their rows.
        public init(
            _ query: ModelQuery<Model> = Model.all, first: FirstPage = .asynchronous,
            showsSyncStates: Bool = false
        ) {
            (self.query, self.first, self.showsSyncStates) = (query, first, showsSyncStates)
        }

        /// The models, in the query's order.
        public var wrappedValue: [Model] { holder.list?.models ?? [] }

        /// The list, to change its query or to see whether it loads; `nil` without a context.
        public var projectedValue: LiveList<Model>? { holder.list }

        /// Makes the list when the view appears, and another one for another query or context. A new query keeps the models until
        /// its first page is read.
        public nonisolated func update() {
            MainActor.assumeIsolated {
                guard holder.query != query || holder.context !== context else { return }
                // A new list, because SwiftUI is updating views that read this one.
                let page = holder.context === context ? holder.list?.page : nil
                (holder.query, holder.context) = (query, context)
                holder.list = context.map {
                    LiveList(query, in: $0, first: first, showsSyncStates: showsSyncStates, showing: page)
                }
            }
        }
    }

    /// Keeps the list while the view exists.
    @MainActor private final class ListHolder<Model: SyncModel> {
        var list: LiveList<Model>?
        /// The query and the context of the view when the list was made.
        var query: ModelQuery<Model>?
        var context: SyncContext?
    }

    extension EnvironmentValues {
        /// The context that ``LiveQuery`` reads.
        @Entry public var syncContext: SyncContext?
    }
#endif
