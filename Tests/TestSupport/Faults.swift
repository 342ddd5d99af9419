public import BusBench
import Glibc
import Linux

/// What goes wrong in a program that is started with ``environment``: see `Tests/Faults`.
public final class Faults: Sendable {
    /// The calls that may fail.
    public enum Kind: Int64, Sendable {
        /// Whatever changes a file or writes it through.
        case disk = 1
        /// Whatever makes a descriptor.
        case descriptor = 2
        /// Whatever takes memory.
        case memory = 3
        /// Whatever writes a file through.
        case barrier = 4
        /// Whatever makes a descriptor that a program waits with.
        case watch = 5
        /// Whatever tells of changes in folders.
        case folders = 6
        /// Whatever adds a folder to those of which changes are told.
        case places = 7
        /// Whatever reads a file; what lasts is that those bytes can't be read.
        case read = 8
    }

    /// Where the numbers lie that the program shares.
    private enum Field: Int {
        case kind, number, lasts, error, count, failed, wall, boot
    }

    /// Where the plan lies, and what is noted of the program.
    public let folder: TemporaryFolder
    /// What a program is started with.
    public let environment: [String: String]
    private let plan: OwnedDescriptor
    /// How far ahead the program's clocks are, in seconds.
    public static let year: Int64 = 365 * 86_400

    private static let project =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    /// Nothing goes wrong yet.
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

    /// The words that start a program in ``environment``, where another library may be preloaded.
    public func starting(_ program: [String], with library: String? = nil) -> [String] {
        var environment = environment
        if let library { environment["LD_PRELOAD", default: ""] += ":" + library }
        return ["/usr/bin/env"] + environment.map { "\($0.key)=\($0.value)" }
            + ["\(ChildProcess.folder)/\(program[0])"] + program.dropFirst()
    }

    /// Has the call of that number from now on fail, alone or with all that come after it; without
    /// an error it kills the program instead.
    public func arm(_ kind: Kind, _ number: Int, lasts: Bool = false, with error: Int32?) {
        disarm()
        set(.number, Int64(number))
        set(.lasts, lasts ? 1 : 0)
        set(.error, Int64(error ?? 0))
        set(.count, 0)
        set(.failed, 0)
        set(.kind, kind.rawValue)
    }

    /// Everything works from now on.
    public func disarm() { set(.kind, 0) }

    /// How many calls of the kind there were since it was armed.
    public var count: Int { Int(value(.count)) }

    /// How many of them failed.
    public var failed: Int { Int(value(.failed)) }

    /// The paths that the program, and those that it starts, have written through to the disk, in
    /// their order.
    public var synchronised: [String] {
        let bytes = (try? folder.read("synchronised")) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Sets the program's clocks ahead of the machine's, in seconds: that of the wall, that of the
    /// boot.
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
