// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(macOS)
    import Foundation
    import HTTPTypes
    import SyncCore
    import Synchronization

    /// Several server processes. One that ends is started again.
    final class StressedServers: Sendable {
        static let count = 3

        private struct State {
            var arguments: [String]
            var isStopped = false
            var authorities: [Int: (process: Process, authority: String)] = [:]
            var startCount = 0
            var lateCount = 0
        }

        private let state: Mutex<State>

        init(arguments: [String]) {
            state = Mutex(State(arguments: arguments))
            for slot in 0..<Self.count { Thread.detachNewThread { self.run(slot) } }
        }

        var startCount: Int { state.withLock { $0.startCount } }
        var lateCount: Int { state.withLock { $0.lateCount } }

        func kill(_ slot: Int) {
            let process = state.withLock { $0.authorities.removeValue(forKey: slot)?.process }
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

        /// Returns the host and port of a server that runs.
        func authority(_ number: Int) async throws -> String {
            while true {
                let authorities = state.withLock { state in
                    state.authorities.sorted { $0.key < $1.key }.map(\.value)
                }
                if !authorities.isEmpty { return authorities[number % authorities.count].authority }
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        private func run(_ slot: Int) {
            while !state.withLock({ $0.isStopped }) {
                let (process, output, input) = (Process(), Pipe(), Pipe())
                process.executableURL = URL(filePath: CommandLine.arguments[0])
                process.arguments = state.withLock { $0.arguments }
                process.standardInput = input
                process.standardOutput = output
                process.standardError = FileHandle.nullDevice
                guard (try? process.run()) != nil else { return }
                read(output.fileHandleForReading, of: process, slot)
                process.waitUntilExit()
                state.withLock { state in
                    if state.authorities[slot]?.process === process { state.authorities[slot] = nil }
                }
            }
        }

        private func read(_ output: FileHandle, of process: Process, _ slot: Int) {
            while case let data = output.availableData, !data.isEmpty {
                for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
                    if line == "late" { state.withLock { $0.lateCount += 1 } }
                    guard let port = URL(string: String(line))?.port else { continue }
                    let isStopped = state.withLock { state in
                        state.startCount += 1
                        state.authorities[slot] = (process, "127.0.0.1:\(port)")
                        return state.isStopped
                    }
                    if isStopped { Foundation.kill(process.processIdentifier, SIGKILL) }
                }
            }
        }
    }

    /// Sends each request to the next of the servers.
    final class AnyServerTransport: HTTPTransport {
        private let servers: StressedServers
        private let base = URLSessionTransport()
        private let count: Atomic<Int>

        init(_ servers: StressedServers, first: Int) {
            self.servers = servers
            count = Atomic(first)
        }

        func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            var request = request
            let number = count.wrappingAdd(1, ordering: .relaxed).newValue
            request.head.authority = try await servers.authority(number)
            return try await base.send(request)
        }
    }
#endif
