// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension ItemValue {
    /// Whether a server that was sent this value may return it as the other value, so that the difference is not a change
    /// by another client.
    ///
    /// Servers do not store every value exactly. JavaScript back ends store numbers as doubles, change `1.0` to `1` and
    /// `-0.0` to `0`; many drop nulls from objects, and most store fewer fraction digits of a date than they are sent.
    ///
    /// - Numbers are equal by value. An integer may come back as the double nearest to it, or as JavaScript writes that double.
    /// - Dates are equal when the server's is this one truncated or rounded to the digits that the server shows.
    /// - Arrays and objects are compared element by element; in objects a null member equals a missing one.
    /// - All other values, text among them, are equal only when they are identical.
    ///
    /// - Parameter received: the value in the server's row.
    func isShown(as received: ItemValue) -> Bool {
        switch (self, received) {
        case (.int(let sent), .int(let received)): sent == received || sent.isRounded(to: received)
        case (.int, .double), (.double, .int), (.double, .double): doubleValue == received.doubleValue
        case (.date(let sent), .date(let received)): sent.isShown(as: received)
        case (.array(let sent), .array(let received)):
            sent.count == received.count && zip(sent, received).allSatisfy { $0.isShown(as: $1) }
        case (.object(let sent), .object(let received)): sent.isShown(as: received)
        default: self == received
        }
    }
}

extension Int64 {
    /// Whether the other integer is the double nearest to this one, exactly or in the digits that JavaScript writes: the fewest
    /// that identify the double, then zeros.
    fileprivate func isRounded(to other: Int64) -> Bool {
        // All integers up to here are doubles.
        guard magnitude > 1 << 53 else { return false }
        let double = Double(self)
        return other == Int64(exactly: double) || other == double.fewestDigits
    }
}

extension Double {
    /// The integer with the fewest digits that identify the number, and zeros behind them.
    fileprivate var fewestDigits: Int64? {
        // Such as "1.7000000000000003e+18".
        let parts = description.split(separator: "e+")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return Int64(exactly: self) }
        let digits = parts[0].split(separator: ".")
        let fraction = digits.count == 2 && digits[1] != "0" ? String(digits[1]) : ""
        guard fraction.count <= exponent else { return nil }
        return Int64(digits[0] + fraction + String(repeating: "0", count: exponent - fraction.count))
    }
}

extension [String: ItemValue] {
    fileprivate func isShown(as received: Self) -> Bool {
        allSatisfy { name, value in value.isShown(as: received.value(exactly: name)) }
            && received.allSatisfy { name, value in value.isNull || !self.value(exactly: name).isNull }
    }

    /// Returns the member of exactly this name; a dictionary treats canonically equivalent names as equal.
    private func value(exactly name: String) -> ItemValue {
        hasKey(withSameBytesAs: name) ? self[name] ?? .null : .null
    }
}

extension Timestamp {
    fileprivate func isShown(as received: Timestamp) -> Bool {
        let digits = Int(received.fractionDigits)
        let half = Duration.nanoseconds(Int64(Self.unitOfDigit[digits] / 2))
        return isSameInstant(as: received) || showing(fractionDigits: digits).isSameInstant(as: received)
            || advanced(by: half).showing(fractionDigits: digits).isSameInstant(as: received)
    }
}
