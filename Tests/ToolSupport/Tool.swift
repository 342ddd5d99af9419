public import Glibc

/// A program that a test runs.
///
/// Not Foundation's `Process`: its pipes are inherited by whatever another test starts at the same
/// moment, so that their end, and its own, is seen only when that program has ended as well.
public struct Tool: Sendable {
    /// What went wrong.
    public struct Failure: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// The process.
    public let pid: pid_t

    /// Starts a program with the environment of the tests.
    ///
    /// - Throws: `Failure` when it can't be started.
    public init(
        _ path: String,
        _ arguments: [String] = [],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil,
        directory: String? = nil
    ) throws(Failure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, descriptor) in [input, output, errors].enumerated() {
            guard let descriptor else { continue }
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        // The list that C wants: ended by a null, freed below.
        let change = directory.map { ["/usr/bin/env", "--chdir=" + $0] } ?? []
        let command = change + [path] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, command[0], &actions, nil, &words, environ)
        guard result == 0 else {
            throw Failure(description: "\(path): \(String(cString: strerror(result)))")
        }
        self.pid = pid
    }

    /// Waits for its end; the exit status, or the negative number of the signal that ended it.
    @discardableResult
    public func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Ends it at once; it can do nothing about it.
    public func kill() {
        Glibc.kill(pid, SIGKILL)
        wait()
    }

    /// Runs a program to its end, and says what it printed.
    ///
    /// - Throws: `Failure` when it can't be started.
    public static func run(
        _ path: String,
        _ arguments: [String] = [],
        input: [UInt8] = [],
        withErrors: Bool = false,
        directory: String? = nil
    ) throws(Failure) -> (status: Int32, output: [UInt8]) {
        let given = try Scratch()
        let printed = try Scratch()
        given.write(input)
        let tool = try Tool(
            path,
            arguments,
            input: given.descriptor,
            output: printed.descriptor,
            errors: withErrors ? printed.descriptor : nil,
            directory: directory
        )
        return (tool.wait(), printed.read())
    }
}

/// The two ends of a stream that no other program inherits.
public final class Line: Sendable {
    /// Where it comes out.
    public let reading: Int32
    /// Where it goes in.
    public let writing: Int32

    /// A new stream.
    ///
    /// - Throws: `Failure` when there are no descriptors left.
    public init() throws(Tool.Failure) {
        var ends: [Int32] = [-1, -1]
        // A pair of sockets: pipe2 is not in the Glibc module.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Tool.Failure(description: "no stream can be made")
        }
        (reading, writing) = (ends[0], ends[1])
    }

    /// The next line; nil when there will be none.
    public func next() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(reading, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    /// Ends it for whoever reads.
    public func closeWriting() { close(writing) }
}

/// A file without a name.
private struct Scratch: ~Copyable {
    let descriptor: Int32

    init() throws(Tool.Failure) {
        let path = "/tmp/localauth-scratch-\(UInt64.random(in: 0...UInt64.max))"
        descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Tool.Failure(description: "no temporary file can be made")
        }
        unlink(path)
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) {
        _ = pwrite(descriptor, bytes, bytes.count, 0)
    }

    func read() -> [UInt8] {
        var status = stat()
        fstat(descriptor, &status)
        let size = Int(status.st_size)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
    }
}
