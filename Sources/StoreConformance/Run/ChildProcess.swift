// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A child process that writes numbers to its output, one per line, until it exits or is killed.
package struct ChildProcess: ~Copyable {
    private let pid: pid_t
    /// The number of the process in ``ChildProcesses``.
    private let number: Int
    private let output: Int32
    private var buffer: [UInt8] = []

    struct CannotStart: Error, CustomStringConvertible {
        let program: String
        let reason: Int32
        var description: String { "'\(program)' cannot be started: \(String(cString: strerror(reason)))." }
    }

    /// Starts the program.
    ///
    /// - Throws: ``CannotStart``, also for a path in a directory whose processes were ended, and on systems that start no
    ///   programs.
    package init(_ program: ChildProgram, arguments: [String]) throws {
        #if os(tvOS) || os(watchOS)
            throw CannotStart(program: program.executable, reason: ENOTSUP)
        #else
            try self.init(spawning: program, arguments: arguments)
        #endif
    }

    #if !os(tvOS) && !os(watchOS)
        private init(spawning program: ChildProgram, arguments: [String]) throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw CannotStart(program: program.executable, reason: errno) }
            // Child processes that start at the same time must not inherit the pipe.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let words = [program.executable] + program.arguments + arguments
            var vector = words.map { strdup($0) } + [nil]
            defer { for word in vector { free(word) } }
            #if canImport(Darwin)
                var actions: posix_spawn_file_actions_t?
            #else
                var actions = posix_spawn_file_actions_t()
            #endif
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            let started = ChildProcesses.start(arguments) {
                var pid = pid_t()
                let result = posix_spawn(&pid, program.executable, &actions, nil, &vector, environ)
                return result == 0 ? .success(pid) : .failure(ChildProcesses.Refusal(reason: result))
            }
            close(ends[1])
            switch started {
            case .success(let process): (number, pid, output) = (process.number, process.pid, ends[0])
            case .failure(let refusal):
                close(ends[0])
                throw CannotStart(program: program.executable, reason: refusal.reason)
            }
        }
    #endif

    /// Returns the next number, or `nil` when the process has closed its output. Other lines are those of a library.
    package mutating func next() -> Int64? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                guard let number = Int64(line) else { continue }
                return number
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            buffer += bytes[..<count]
        }
    }

    /// Sends SIGKILL to the process.
    func kill() { ChildProcesses.kill(number) }

    /// Waits until the process has ended.
    ///
    /// - Returns: whether a signal ended it.
    package consuming func wait() -> Bool {
        // Does not remove the process, so that its id is not used again before the lock is held.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        close(output)
        return ChildProcesses.remove(number)
    }
}

func sigkill(_ pid: pid_t) -> Int32 { kill(pid, SIGKILL) }

/// Kills this process with SIGKILL, to simulate a crash.
func crash() -> Never {
    _ = sigkill(getpid())
    while true { pause() }
}

/// Writes a number and a newline to the standard output, unbuffered.
func acknowledge(_ number: Int64) {
    let line = Array("\(number)\n".utf8)
    while write(1, line, line.count) < 0, errno == EINTR {}
}
