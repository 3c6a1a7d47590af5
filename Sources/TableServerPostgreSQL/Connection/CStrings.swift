// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Texts for a C function, each with a NUL behind it. They are in one buffer, so that their pointers are valid together.
struct CStrings {
    private var bytes: [CChar] = [0]
    private var offsets: [Int?] = []

    /// - Parameter texts: `nil` for a null pointer. The texts contain no NUL.
    init(_ texts: [String?]) {
        for text in texts {
            offsets.append(text.map { _ in bytes.count })
            guard let text else { continue }
            bytes += text.utf8.map { CChar(bitPattern: $0) }
            bytes.append(0)
        }
    }

    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            let pointers = offsets.map { offset in offset.flatMap { bytes.baseAddress?.advanced(by: $0) } }
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }
}
