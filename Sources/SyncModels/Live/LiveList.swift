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
    public var page: LivePage<Model>? { observedState.page }
    /// Whether the first page of the query has not been read yet. An empty page is not loading.
    public var isLoading: Bool { observedState.isLoading }
    /// Why the query cannot be read. A list that has a page keeps it without an error when the context closes.
    public var error: SyncError? { observedState.error }

    /// What the list shows.
    private struct ShownState {
        var page: LivePage<Model>?
        var isLoading = true
        var error: SyncError?
    }

    /// Observed by ``observedState`` and ``show(_:for:)``.
    @ObservationIgnored private var state = ShownState()
    /// The number of queries that were followed so far.
    @ObservationIgnored private var follows = 0
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
        self.showsSyncStates = showsSyncStates
        state.page = page
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
        follows += 1
        let number = follows
        guard show(ShownState(page: state.page), for: number) else { return }
        var results = context.table(Model.self).live(query, throttle: throttle)
        if showsSyncStates { results = results.withSyncStates() }
        if first == .immediate, let page = results.immediatePage() {
            guard show(page, for: number) else { return }
        }
        var pages = results.makeAsyncIterator()
        settle = pages.settle
        task = Task { [weak self] in
            do throws(SyncError) {
                // On the main actor, so that nothing runs between the end of a wait in `settled()` and what ends it.
                while let page = try await pages.next(isolation: #isolation) {
                    // After a cancellation the next page is `nil`, which ends the waits for this query.
                    if !Task.isCancelled { self?.show(page, for: number) }
                }
                if !Task.isCancelled { self?.end(number) }
            } catch {
                guard !Task.isCancelled else { return }
                self?.show(error, for: number)
            }
        }
    }

    private var observedState: ShownState {
        access(keyPath: \.state)
        return state
    }

    /// Shows the state of a query. Observers are called before the change, and may set another query: its state stays.
    ///
    /// - Parameter number: ``follows`` when the query was followed.
    /// - Returns: whether that query is still followed.
    @discardableResult
    private func show(_ newState: ShownState, for number: Int) -> Bool {
        withMutation(keyPath: \.state) {
            if number == follows { state = newState }
        }
        return number == follows
    }

    @discardableResult
    private func show(_ page: LivePage<Model>, for number: Int) -> Bool {
        show(ShownState(page: page, isLoading: false), for: number)
    }

    private func show(_ error: SyncError, for number: Int) {
        show(ShownState(page: state.page, isLoading: false, error: error), for: number)
    }

    /// The context has closed.
    private func end(_ number: Int) { if state.isLoading { show(SyncError.contextClosed(), for: number) } }
}
