// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation

    /// Runs server processes on one PostgreSQL database with faults, and one process for each device that uses them. Checks
    /// that no device misses a row and no confirmed change is lost or made twice.
    ///
    ///     server-stress [--seconds N] [--without-lock]
    ///
    /// Without the lock of the stamps it succeeds if devices miss rows: then the check has an effect.
    @main
    enum ServerStress {
        static func main() async throws {
            var arguments = CommandLine.arguments.dropFirst()
            switch arguments.first {
            case "serve": return try await StressedServer.serve(Array(arguments.dropFirst()))
            case "device": return try await StressedDevice.run(Array(arguments.dropFirst()))
            default: break
            }
            var (seconds, locksStamps) = (20, true)
            while let argument = arguments.popFirst() {
                switch argument {
                case "--seconds": seconds = arguments.popFirst().flatMap { Int($0) } ?? seconds
                case "--without-lock": locksStamps = false
                default:
                    print("unknown argument '\(argument)'; use --seconds N and --without-lock")
                    exit(2)
                }
            }
            do {
                let report = try await Stress(seconds: seconds, locksStamps: locksStamps).run()
                print(report.text)
                let isCorrect = report.lostCount == 0 && report.duplicateCount == 0
                exit(isCorrect && (report.missCount == 0) == locksStamps ? 0 : 1)
            } catch let ended as DeviceProcess.Ended {
                print(ended)
                exit(1)
            }
        }
    }
#else
    @main
    enum ServerStress {
        static func main() {}
    }
#endif
