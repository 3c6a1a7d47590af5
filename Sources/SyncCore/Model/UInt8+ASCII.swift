// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
    package var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
