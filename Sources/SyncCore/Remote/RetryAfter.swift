// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The `Retry-After` header (RFC 9110, section 10.2.3): seconds, or a date.
struct RetryAfter: Hashable {
    /// The delay from now; zero for dates in the past.
    let delay: Duration

    /// Reads the header; `nil` when it is neither seconds nor a date.
    init?(_ text: String, now: Timestamp) {
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) {
            // A number that overflows is longer than any permitted delay.
            delay = .seconds(Int64(text) ?? .max / 2)
        } else if let date = Timestamp(httpDate: text) {
            delay = .seconds(max(0, date.seconds - now.seconds))
        } else {
            return nil
        }
    }

    /// Returns the header with a date as seconds since the response's own date: the clock of the device may be wrong.
    ///
    /// - Parameter date: the response's `Date`.
    static func text(_ text: String?, since date: String?) -> String? {
        guard let text, let now = date.flatMap({ Timestamp(httpDate: $0) }) else { return text }
        return RetryAfter(text, now: now).map { "\($0.delay.components.seconds)" } ?? text
    }

    /// Returns the delay that a response demands; `nil` without a readable header.
    static func delay(_ text: String?, now: Timestamp) -> Duration? {
        text.flatMap { RetryAfter($0, now: now)?.delay }
    }
}
