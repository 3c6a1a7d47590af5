// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Wraps an error of the app's closure, to tell it from an error of the store.
struct BodyError: Error {
    private let error: any Error

    /// Runs the app's closure inside an access to the store.
    static func wrapping<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch {
            throw BodyError(error: error)
        }
    }

    /// Accesses the store, and throws the error of the app's closure as it was.
    static func unwrapping<T>(_ access: () async throws -> T) async throws -> T {
        do {
            return try await access()
        } catch let error as SyncError {
            throw (error.cause as? BodyError)?.error ?? error
        }
    }
}
