// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation

    /// The process of a device: see ``StressedDevice``. It ends with this process.
    final class DeviceProcess: Sendable {
        private let number: Int
        private let input: FileHandle
        private let output: FileHandle

        struct Ended: Error, CustomStringConvertible {
            let number: Int
            var description: String { "Device \(number) has ended; it has printed its error." }
        }

        init(_ number: Int) throws {
            let (process, input, output) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(filePath: CommandLine.arguments[0])
            process.arguments = ["device", "\(number)"]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            self.number = number
            self.input = input.fileHandleForWriting
            self.output = output.fileHandleForReading
        }

        /// Tells the device which servers run.
        func use(servers: [String]) {
            // One that has ended is noticed by `report()`.
            try? input.write(contentsOf: Data("servers \(servers.joined(separator: " "))\n".utf8))
        }

        /// Lets the device sync, and returns what it has done and what it has.
        func report() async throws -> DeviceReport {
            do { try input.write(contentsOf: Data("report\n".utf8)) } catch { throw Ended(number: number) }
            let line: Data = try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { [output, number] in
                    var line = Data()
                    while line.last != UInt8(ascii: "\n") {
                        let data = output.availableData
                        if data.isEmpty { return continuation.resume(throwing: Ended(number: number)) }
                        line += data
                    }
                    continuation.resume(returning: line)
                }
            }
            return try JSONDecoder().decode(DeviceReport.self, from: line)
        }
    }
#endif
