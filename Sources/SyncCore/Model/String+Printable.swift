// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text on one line, with another character for each that changes the rest of the line or the terminal.
    package func printable(replacement: Unicode.Scalar) -> String {
        String(
            UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: replacement
                    default: scalar.properties.isBidiControl ? replacement : scalar
                    }
                }))
    }
}
