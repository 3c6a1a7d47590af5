// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Observation
public import SyncCore

/// The models of a query, for a user interface: follows the store from its creation until it is deallocated, or until an
/// ``error``. Setting the query again then begins anew.
///
/// ```swift
/// let list = LiveList(Todo.where { !$0.complete }, in: context)
/// ```
///
/// It is `@Observable`, so that SwiftUI views that read it are updated.
@MainActor @Observable public final class LiveList<Model: SyncModel> {
    /// The query. A new query keeps the models until its first page is read. After an error, the same query is read again.
    public var query: ModelQuery<Model> {
        didSet { if query != oldValue || error != nil { follow() } }
    }
    /// The models, in the query's order.
    public var models: [Model] { page?.models ?? [] }
    /// The newest page; `nil` before the first one.
    public private(set) var page: LivePage<Model>?
    /// Whether the first page of the query has not been read yet. An empty page is not loading.
    public private(set) var isLoading = true
    /// Why the query cannot be read. A list that has a page keeps it without an error when the context closes.
    public private(set) var error: SyncError?

    @ObservationIgnored private let context: SyncContext
    @ObservationIgnored private let first: FirstPage
    @ObservationIgnored private let throttle: Duration
    @ObservationIgnored private let showsSyncStates: Bool
    @ObservationIgnored private var task: Task<Void, Never>?
    @ObservationIgnored private var settle: @Sendable () async -> Void = {}

    /// Follows the query.
    ///
    /// - Parameters:
    ///   - first: how the first page of each query is read.
    ///   - throttle: the minimum time between two pages.
    ///   - showsSyncStates: whether ``LivePage/syncState(of:)`` of the page knows which rows the server has. A new state is a
    ///     new page.
    public convenience init(
        _ query: ModelQuery<Model> = Model.all, in context: SyncContext, first: FirstPage = .asynchronous,
        throttle: Duration = .zero, showsSyncStates: Bool = false
    ) {
        self.init(
            query, in: context, first: first, throttle: throttle, showsSyncStates: showsSyncStates,
            showing: nil)
    }

    /// Follows the query, and shows a page of a former one until the first page is read.
    package init(
        _ query: ModelQuery<Model>, in context: SyncContext, first: FirstPage, throttle: Duration = .zero,
        showsSyncStates: Bool = false, showing page: LivePage<Model>?
    ) {
        (self.query, self.context, self.first, self.throttle) = (query, context, first, throttle)
        (self.showsSyncStates, self.page) = (showsSyncStates, page)
        follow()
    }

    deinit { task?.cancel() }

    /// Waits until the list shows every write that has returned before, for example in a test. Returns at once when the list
    /// shows them already, has an ``error``, or follows a closed context.
    public func settled() async {
        var followed: Task<Void, Never>?
        while followed != task {
            followed = task
            await settle()
        }
    }

    private func follow() {
        task?.cancel()
        (isLoading, error) = (true, nil)
        var results = context.table(Model.self).live(query, throttle: throttle)
        if showsSyncStates { results = results.withSyncStates() }
        if first == .immediate, let page = results.immediatePage() { show(page) }
        var pages = results.makeAsyncIterator()
        settle = pages.settle
        task = Task { [weak self] in
            do throws(SyncError) {
                // On the main actor, so that nothing runs between the end of a wait in `settled()` and what ends it.
                while let page = try await pages.next(isolation: #isolation) {
                    // After a cancellation the next page is `nil`, which ends the waits for this query.
                    if !Task.isCancelled { self?.show(page) }
                }
                if !Task.isCancelled { self?.end() }
            } catch {
                guard !Task.isCancelled else { return }
                self?.show(error)
            }
        }
    }

    private func show(_ page: LivePage<Model>) { (self.page, isLoading) = (page, false) }

    /// The context has closed.
    private func end() { if isLoading { show(SyncError.contextClosed()) } }

    private func show(_ error: SyncError) { (self.error, isLoading) = (error, false) }
}
