import Foundation

/// A program of this project, or one that the tests need, as a process of its own.
final class Program: Sendable {
    /// Where what it said is kept.
    let log: String
    private let process: Process
    private let endings: AsyncStream<Int32>

    /// Starts a program by its path; what it prints goes to `output`, or else to the log as well.
    init(_ path: String, _ arguments: [String], log: String, output: FileHandle? = nil) throws {
        try Data().write(to: URL(fileURLWithPath: log))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        let (endings, feed) = AsyncStream.makeStream(of: Int32.self)
        process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output ?? errors
        process.standardError = errors
        process.terminationHandler = { process in
            feed.yield(process.terminationStatus)
            feed.finish()
        }
        self.log = log
        self.endings = endings
        try process.run()
        try errors.close()
        try output?.close()
    }

    deinit {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    }

    /// Where the programs are: beside the tests.
    static let folder: String = {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: own ?? ".").deletingLastPathComponent().path
    }()

    var pid: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    var said: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    func send(_ signal: Int32) {
        Glibc.kill(pid, signal)
    }

    /// Its exit status, or the number of the signal that ended it.
    func end() async -> Int32 {
        for await status in endings { return status }
        return process.terminationStatus
    }

    /// Open descriptors.
    func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    /// Memory of its own that is in use, in KB.
    func memory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        let words = line?.split { $0 == " " || $0 == "\t" } ?? []
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}
