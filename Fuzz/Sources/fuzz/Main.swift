// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The target that the environment names.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("Set FUZZ_TARGET to one of: \(names).")
    }
    return target
}()

/// The entry point that libFuzzer calls for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.check(Data(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
