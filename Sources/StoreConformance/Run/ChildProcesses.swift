// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The child processes of all running checks, so that a stuck check ends its own.
package enum ChildProcesses {
    struct Refusal: Error {
        /// The error number.
        let reason: Int32
    }

    private struct Running {
        let pid: pid_t
        let arguments: [String]

        func works(in directory: String) -> Bool { arguments.contains { $0.hasPrefix("\(directory)/") } }
    }

    private struct State {
        var running: [Int: Running] = [:]
        var lastNumber = 0
        /// The directories in which no process may start.
        var endedDirectories: Set<String> = []
    }

    private static let state = Mutex(State())

    /// Starts a process and records it, unless its arguments contain a path in a directory whose processes were ended.
    static func start(
        _ arguments: [String], _ spawn: () -> Result<pid_t, Refusal>
    ) -> Result<(number: Int, pid: pid_t), Refusal> {
        state.withLock { state in
            let hasEnded = state.endedDirectories.contains { directory in
                arguments.contains { $0.hasPrefix("\(directory)/") }
            }
            if hasEnded { return .failure(Refusal(reason: ECANCELED)) }
            return spawn().map { pid in
                state.lastNumber += 1
                state.running[state.lastNumber] = Running(pid: pid, arguments: arguments)
                return (state.lastNumber, pid)
            }
        }
    }

    /// Sends SIGKILL to a process, unless it was removed: its id may belong to another one.
    static func kill(_ number: Int) {
        state.withLock { state in
            if let process = state.running[number] { _ = sigkill(process.pid) }
        }
    }

    /// Removes a process that has ended.
    ///
    /// - Returns: whether a signal ended it.
    static func remove(_ number: Int) -> Bool {
        state.withLock { state in
            // Only ``end(in:)`` has removed it otherwise.
            state.running.removeValue(forKey: number).map { waitForEnd(of: $0.pid) } ?? true
        }
    }

    /// Kills the processes that work in the directory, waits for their end, and starts no others there.
    package static func end(in directory: String) {
        state.withLock { state in
            state.endedDirectories.insert(directory)
            for (number, process) in state.running where process.works(in: directory) {
                _ = sigkill(process.pid)
                _ = waitForEnd(of: process.pid)
                state.running[number] = nil
            }
        }
    }

    /// The number of processes that work in the directory.
    package static func count(in directory: String) -> Int {
        state.withLock { state in state.running.values.count { $0.works(in: directory) } }
    }

    private static func waitForEnd(of pid: pid_t) -> Bool {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        // A process that has crashed by itself was not killed.
        return status & 0x7f == SIGKILL
    }
}
