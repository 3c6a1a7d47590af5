// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

@_spi(StoreAuthor) @testable import SyncCore

/// JSON that is read is printed and read back unchanged; a refusal names a byte of the input.
func checkJSON(_ input: Data) {
    do {
        let value = try ItemValue(json: input)
        let printed = value.json
        guard let again = try? ItemValue(json: printed) else {
            fatalError("The printed JSON cannot be read.")
        }
        require(again == value && again.json == printed, "The JSON changes when it is printed and read.")
        let stored = value.storedJSON
        guard let restored = try? ItemValue(storedJSON: stored) else {
            fatalError("The stored JSON cannot be read.")
        }
        require(restored == value && restored.json == printed, "The value changes when it is stored.")
    } catch {
        require((0...input.count).contains(error.offset), "The error is at byte \(error.offset).")
    }
    if let value = try? ItemValue(storedJSON: input) {
        guard let again = try? ItemValue(storedJSON: value.storedJSON) else {
            fatalError("A stored value cannot be stored again.")
        }
        require(again == value, "A stored value changes when it is stored again.")
    }
}

/// A date that is read is printed and read back unchanged, and its texts sort as the dates.
func checkDate(_ input: Data) {
    let text = String(decoding: input, as: UTF8.self)
    let date = Timestamp(text)
    if let date {
        require(Timestamp(date.description) == date, "The date changes when it is printed and read.")
        require(Timestamp.representableSeconds.contains(date.seconds), "The date is out of range.")
        require(Timestamp(serverText: text) == date, "The server's text is another date.")
        let second = Timestamp(httpDate: date.httpDate)
        require(second?.seconds == date.seconds, "The date of a header is another second.")
    }
    if let lenient = Timestamp(serverText: text) {
        require(Timestamp(lenient.description) == lenient, "The server's date changes when it is printed.")
        if let date { checkOrder(date, lenient.advanced(by: .nanoseconds(1))) }
    }
    if let date = Timestamp(httpDate: text) {
        require(Timestamp(httpDate: date.httpDate) == date, "The header's date changes when it is printed.")
    }
    var bytes = ByteConsumer(input)
    let range = Timestamp.representableSeconds
    let seconds = Int64(bitPattern: bytes.uint64()) % (range.upperBound - range.lowerBound)
    if let first = Timestamp(
        seconds: seconds, nanoseconds: Int32(bytes.uint64() % 1_000_000_000),
        fractionDigits: Int(bytes.byte() % 10))
    {
        require(Timestamp(first.description) == first, "The date changes when it is printed and read.")
        let step = Int64(bytes.uint64() % 10_000_000_000)
        checkOrder(first, first.advanced(by: .nanoseconds(step)))
    }
}

private func checkOrder(_ first: Timestamp, _ second: Timestamp) {
    require(!second.isEarlier(than: first), "A later date sorts before an earlier one.")
    let (low, high) = (first.localText, second.localText)
    require(
        first.isSameInstant(as: second) || (low < high) == (first < second),
        "The texts of dates sort in another order than the dates.")
}

/// A delay is never negative, and no delay is longer than the policy permits.
func checkRetryAfter(_ input: Data) {
    let text = String(decoding: input, as: UTF8.self)
    for now in [Timestamp.unixEpoch, Timestamp("0001-01-01T00:00:00Z"), Timestamp("9999-12-31T23:59:59Z")] {
        guard let now else { fatalError("A literal date cannot be read.") }
        if let retryAfter = RetryAfter(text, now: now) {
            require(retryAfter.delay >= .zero, "The delay is negative.")
        }
        var bytes = ByteConsumer(input)
        let attempt = Int(bytes.byte())
        var policy = RetryPolicy()
        policy.maxAttempts = .max
        if bytes.byte() & 1 == 1 {
            policy.initialDelay = .seconds(Int64(bitPattern: bytes.uint64()))
            policy.maxDelay = .seconds(Int64(bitPattern: bytes.uint64()))
        }
        let delay = policy.delay(
            afterAttempt: max(1, attempt), retryAfter: text, now: now,
            jitter: Double(bytes.uint64() >> 11) / Double(1 << 53))
        require(
            delay ?? .zero >= .zero && delay ?? .zero <= max(.zero, policy.maxDelay, policy.maxRetryAfter),
            "The policy does not permit the delay.")
    }
}

/// A version that can be sent in `If-Match` is read back unchanged.
func checkEntityTag(_ input: Data) {
    let text = String(decoding: input, as: UTF8.self)
    for version in [text, EntityTag.version(from: text)] {
        guard let version, let header = try? EntityTag.header(for: version) else { continue }
        require(
            header.utf8.allSatisfy { (0x20...0x7E).contains($0) } && header.utf8.count >= 3,
            "The header has characters that cannot be sent.")
        require(EntityTag.version(from: header) == version, "The version changes when it is sent and read.")
    }
}
