public import BusBench
import Glibc
import Linux

/// Injects faults into a program started with ``environment``: see `Tests/Faults`.
public final class Faults: Sendable {
    /// The kinds of calls that can fail.
    public enum Kind: Int64, Sendable {
        /// Calls that change files or flush them to disk.
        case disk = 1
        /// Calls that create a descriptor.
        case descriptor = 2
        /// Calls that allocate memory.
        case memory = 3
        /// Calls that flush a file to disk.
        case barrier = 4
        /// Calls that create a descriptor for waiting.
        case watch = 5
        /// Calls that report changes in folders.
        case folders = 6
        /// Calls that add a folder to a watch.
        case places = 7
        /// Calls that read a file; a lasting fault makes the same bytes unreadable for good.
        case read = 8
    }

    /// Positions of the numbers in the file shared with the program.
    private enum Field: Int {
        case kind, number, lasts, error, count, failed, wall, boot
    }

    /// The folder of the plan and of the program's records.
    public let folder: TemporaryFolder
    /// The environment of a program under test.
    public let environment: [String: String]
    private let plan: OwnedDescriptor
    /// A year in seconds, for ``setClocks(wall:boot:)``.
    public static let year: Int64 = 365 * 86_400

    private static let project =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    /// Builds the library and prepares a plan without faults.
    public init() throws(TestFailure) {
        let words = ["/usr/bin/make", "--directory", Self.project, "test-faults"]
        let made = try ChildProcess.run(words, mergesErrors: true)
        try expect(made.status == 0, "expected a library: \(made.output)")
        folder = try TemporaryFolder()
        try folder.write("plan", [UInt8](repeating: 0, count: 4096))
        let file = open(folder.path + "/plan", O_RDWR | O_CLOEXEC)
        try expect(file >= 0, "expected a plan")
        plan = OwnedDescriptor(adopting: file)
        environment = [
            "LD_PRELOAD": Self.project + "/.build/faults.so", "FAULTS": folder.path,
            "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// Returns the words that start a program in ``environment``, optionally with another preloaded
    /// library.
    public func starting(_ program: [String], with library: String? = nil) -> [String] {
        var environment = environment
        if let library { environment["LD_PRELOAD", default: ""] += ":" + library }
        return ["/usr/bin/env"] + environment.map { "\($0.key)=\($0.value)" }
            + ["\(ChildProcess.folder)/\(program[0])"] + program.dropFirst()
    }

    /// Makes the `number`th call from this point on fail, alone or with all later calls; nil as
    /// error kills the program.
    public func arm(_ kind: Kind, _ number: Int, lasts: Bool = false, with error: Int32?) {
        disarm()
        set(.number, Int64(number))
        set(.lasts, lasts ? 1 : 0)
        set(.error, Int64(error ?? 0))
        set(.count, 0)
        set(.failed, 0)
        set(.kind, kind.rawValue)
    }

    /// Removes all faults.
    public func disarm() { set(.kind, 0) }

    /// The number of calls of the armed kind since arming.
    public var count: Int { Int(value(.count)) }

    /// The number of failed calls.
    public var failed: Int { Int(value(.failed)) }

    /// Paths that the program and its children have flushed to disk, in order.
    public var synchronised: [String] {
        let bytes = (try? folder.read("synchronised")) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Sets the program's wall clock and boot clock ahead of the machine's, in seconds.
    public func setClocks(wall: Int64 = 0, boot: Int64 = 0) {
        set(.wall, wall)
        set(.boot, boot)
    }

    private func set(_ field: Field, _ value: Int64) {
        withUnsafeBytes(of: value) {
            _ = pwrite(plan.rawValue, $0.baseAddress, 8, off_t(8 * field.rawValue))
        }
    }

    private func value(_ field: Field) -> Int64 {
        var value: Int64 = 0
        withUnsafeMutableBytes(of: &value) {
            _ = pread(plan.rawValue, $0.baseAddress, 8, off_t(8 * field.rawValue))
        }
        return value
    }
}
