// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension ItemValue {
    /// Whether a server that was sent this value may return it as the other value, so that the difference is not a change
    /// by another client.
    ///
    /// Servers do not store every value exactly. JavaScript back ends store numbers as doubles, change `1.0` to `1` and
    /// `-0.0` to `0`; many drop nulls from objects, and most store fewer fraction digits of a date than they are sent.
    ///
    /// - Numbers are equal by value; integers that differ only beyond the precision of a double are equal.
    /// - Dates are equal when the server's is this one truncated or rounded to the digits that the server shows.
    /// - Arrays and objects are compared element by element; in objects a null member equals a missing one.
    /// - All other values, text among them, are equal only when they are identical.
    ///
    /// - Parameter received: the value in the server's row.
    func isShown(as received: ItemValue) -> Bool {
        switch (self, received) {
        case (.int(let sent), .int(let received)) where sent == received: true
        case (.int, .int), (.int, .double), (.double, .int), (.double, .double):
            doubleValue == received.doubleValue
        case (.date(let sent), .date(let received)): sent.isShown(as: received)
        case (.array(let sent), .array(let received)):
            sent.count == received.count && zip(sent, received).allSatisfy { $0.isShown(as: $1) }
        case (.object(let sent), .object(let received)): sent.isShown(as: received)
        default: self == received
        }
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
