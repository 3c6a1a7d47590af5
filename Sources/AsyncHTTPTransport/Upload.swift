// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import Synchronization

/// The progress of a large body, whose parts are sent when the connection has taken the ones before.
///
/// The client's own read timeout begins with the end of the request. It would run during the upload of a body that is sent as a
/// whole, and ends no upload that stops.
final class Upload: Sendable {
    static let partSize = 64 << 10

    private let idleTimeout: Duration
    private let nextDeadline: Mutex<ContinuousClock.Instant?>

    /// Returns `nil` for a body that is sent as a whole.
    init?(_ body: Data?, idleTimeout: Duration) {
        guard let body, body.count > Self.partSize else { return nil }
        self.idleTimeout = idleTimeout
        nextDeadline = Mutex(.now + idleTimeout)
    }

    /// When the request fails, unless another part is taken; `nil` after the last one.
    var deadline: ContinuousClock.Instant? { nextDeadline.withLock(\.self) }

    func recordProgress(isLast: Bool) {
        nextDeadline.withLock { $0 = isLast ? nil : .now + idleTimeout }
    }
}

/// The parts of a large body.
struct UploadParts: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var bytes: Data
    let upload: Upload

    func makeAsyncIterator() -> UploadParts { self }

    mutating func next() async -> ByteBuffer? {
        upload.recordProgress(isLast: bytes.isEmpty)
        guard !bytes.isEmpty else { return nil }
        defer { bytes = bytes.dropFirst(Upload.partSize) }
        return ByteBuffer(bytes: bytes.prefix(Upload.partSize))
    }
}
