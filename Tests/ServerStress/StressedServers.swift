// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import Synchronization

    /// Several server processes. One that ends is started again.
    final class StressedServers: Sendable {
        static let count = 3

        private struct State {
            var arguments: [String]
            var isStopped = false
            /// Those that run, by slot.
            var authorities: [Int: (process: Process, authority: String)] = [:]
            var startCount = 0
            var lateCount = 0
        }

        private let state: Mutex<State>
        private let onChange: @Sendable ([String]) -> Void

        /// Starts the servers.
        ///
        /// - Parameter onChange: is told host and port of all servers that run, whenever one has started or ended.
        init(arguments: [String], onChange: @escaping @Sendable ([String]) -> Void) {
            state = Mutex(State(arguments: arguments))
            self.onChange = onChange
            for slot in 0..<Self.count { Thread.detachNewThread { self.run(slot) } }
        }

        var startCount: Int { state.withLock { $0.startCount } }
        var lateCount: Int { state.withLock { $0.lateCount } }

        func kill(_ slot: Int) {
            let process = change { $0.authorities.removeValue(forKey: slot)?.process }
            if let process { Foundation.kill(process.processIdentifier, SIGKILL) }
        }

        /// Kills all, and starts them with other arguments.
        func restart(arguments: [String]) {
            state.withLock { $0.arguments = arguments }
            for slot in 0..<Self.count { kill(slot) }
        }

        func stop() {
            state.withLock { $0.isStopped = true }
            for slot in 0..<Self.count { kill(slot) }
        }

        /// Reports the servers that run after a change. In one lock with it, so that reports are in order.
        private func change<Result>(_ body: (inout sending State) -> sending Result) -> sending Result {
            state.withLock { state in
                let result = body(&state)
                onChange(state.authorities.sorted { $0.key < $1.key }.map(\.value.authority))
                return result
            }
        }

        private func run(_ slot: Int) {
            while !state.withLock({ $0.isStopped }) {
                let (process, output, input) = (Process(), Pipe(), Pipe())
                process.executableURL = URL(filePath: CommandLine.arguments[0])
                process.arguments = state.withLock { $0.arguments }
                process.standardInput = input
                process.standardOutput = output
                guard (try? process.run()) != nil else { return }
                read(output.fileHandleForReading, of: process, slot)
                process.waitUntilExit()
                change { state in
                    if state.authorities[slot]?.process === process { state.authorities[slot] = nil }
                }
            }
        }

        private func read(_ output: FileHandle, of process: Process, _ slot: Int) {
            while case let data = output.availableData, !data.isEmpty {
                for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
                    if line == "late" { state.withLock { $0.lateCount += 1 } }
                    guard let port = URL(string: String(line))?.port else { continue }
                    let isStopped = change { state in
                        state.startCount += 1
                        state.authorities[slot] = (process, "127.0.0.1:\(port)")
                        return state.isStopped
                    }
                    if isStopped { Foundation.kill(process.processIdentifier, SIGKILL) }
                }
            }
        }
    }
#endif
