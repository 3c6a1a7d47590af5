// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The `Retry-After` header (RFC 9110, section 10.2.3): seconds, or a date.
struct RetryAfter: Hashable {
    /// How long to wait from now; zero for dates that have passed.
    let delay: Duration

    /// Reads the header; `nil` when it is neither seconds nor a date.
    init?(_ text: String, now: Timestamp) {
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) {
            // More digits than fit are longer than anybody waits.
            delay = .seconds(Int64(text) ?? .max / 2)
        } else if let date = Self.seconds(ofHTTPDate: text) {
            delay = .seconds(max(0, date - now.seconds))
        } else {
            return nil
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The preferred form alone, `Sun, 06 Nov 1994 08:49:37 GMT`; servers must not send the others.
    private static func seconds(ofHTTPDate text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let (year, day, monthNumber) = (words[3], words[1], month + 1)
        return Timestamp("\(year)-\(monthNumber < 10 ? "0" : "")\(monthNumber)-\(day)T\(words[4])Z")?.seconds
    }
}
