import AuthEngine
import AuthStore
import Foundation
import Linux
import Testing
import ToolSupport

/// A state directory of a test, removed with the value.
final class StateFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "localauth-store-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    func read(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: file(name))))
    }

    /// Writes a file with mode 0600, or another.
    func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
        try setMode(mode, of: name)
    }

    func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: file(name)
        )
    }

    func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    func open(
        now: Instant = Instant(nanoseconds: 0),
        bootID: String = "boot",
        settings: Settings = Settings()
    ) throws -> (store: AuthStore, state: LoadedState) {
        try AuthStore.open(directory: path, now: now, bootID: bootID, settings: settings)
    }

    /// What a start would find now.
    func state(
        now: Instant = Instant(nanoseconds: 0),
        bootID: String = "boot"
    ) throws -> LoadedState {
        let (store, state) = try open(now: now, bootID: bootID)
        store.close()
        return state
    }

    /// Why a start would fail now.
    func refusal() -> SystemError? {
        #expect(throws: SystemError.self) {
            try AuthStore.open(
                directory: path,
                now: Instant(nanoseconds: 0),
                bootID: "boot",
                settings: Settings()
            )
        }
    }
}

extension AuthStore {
    /// Saves and waits for the answer.
    func save(_ record: UserRecord, uid: UInt32) async -> SystemError? {
        await withCheckedContinuation { answer in
            save(record, uid: uid) { answer.resume(returning: $0) }
        }
    }

    /// Saves and waits for the answer.
    func save(_ enrolment: Enrolment, uid: UInt32) async -> SystemError? {
        await withCheckedContinuation { answer in
            save(enrolment, uid: uid) { answer.resume(returning: $0) }
        }
    }
}

extension Enrolment {
    /// Updates, which must be a change.
    mutating func expectChange(
        sensor: String,
        ids: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changed = update(sensor: sensor, ids: ids)
        #expect(changed, sourceLocation: sourceLocation)
    }

    /// Updates, which must not be a change.
    mutating func expectNoChange(
        sensor: String,
        ids: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changed = update(sensor: sensor, ids: ids)
        #expect(!changed, sourceLocation: sourceLocation)
    }
}

/// A probe process: see `StoreCrashProbe`.
struct Probe {
    private let tool: Tool
    private let output: Line
    private let input: Line

    init(_ mode: String, _ directory: String) throws {
        // Built beside the tests.
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let probe = URL(filePath: tests).deletingLastPathComponent()
            .appending(path: "StoreCrashProbe").path
        (output, input) = (try Line(), try Line())
        tool = try Tool(
            probe,
            [mode, directory],
            input: input.reading,
            output: output.writing
        )
        output.closeWriting()
        close(input.reading)
    }

    /// The next line; nil when there will be none.
    func line() -> String? { output.next() }

    /// Every line up to the end.
    func lines() -> [String] {
        Array(sequence(state: ()) { _ in line() })
    }

    /// Ends it at once; it can do nothing about it.
    func kill() { tool.kill() }

    /// Lets it go on to its end.
    func finish() -> Int32 {
        input.closeWriting()
        return tool.wait()
    }
}

/// SplitMix64, so that a seed gives the same test again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// The seed in `LOCALAUTH_SEED`, or a new one; printed.
    init() {
        let text = ProcessInfo.processInfo.environment["LOCALAUTH_SEED"]
        state = text.flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
        print("LOCALAUTH_SEED=\(state)")
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
