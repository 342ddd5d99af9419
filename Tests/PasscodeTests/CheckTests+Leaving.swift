import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// Checks with a PAM module that leaves processes behind: `Tests/pam/leave.c`.
extension CheckTests {
    @Test(
        "A password that no module received is nowhere in the memory of its check",
        .enabled(if: isRoot, "looks into another process")
    )
    func wipedUnsent() async throws {
        try await Self.inside("asking", "ask") { bench, _ in try await Self.expectWiped(bench) }
    }

    @Test("L21: A leftover process that holds the check's pipe delays no caller")
    func pipeLeftOpen() async throws {
        try await Self.inside("leaving", "FILE hang") { bench, file in
            let verdict = Self.verify(bench)
            // The final newline shows that the file is complete.
            try await eventually("the process that was left") {
                (try? Self.text(file).hasSuffix("\n")) ?? false
            }
            let processes = try Self.left(in: file)
            try #require(processes.count == 3)
            let (left, check) = (processes[0], processes[2])
            // The verifier would wait for this process.
            defer { kill(left, SIGKILL) }
            kill(check, SIGKILL)
            // The verifier must not wait, which would also delay the next call.
            #expect(await verdict.value == nil)
            let answered = EventRecorder<Bool>()
            Task { answered.record(try await bench.verifier.isSet(uid: bench.user)) }
            _ = try await answered.first("an answer about the passcode") { _ in true }
        }
    }

    /// Runs a test with a service of `pam_leave.so` alone, and the file that the module writes.
    static func inside(
        _ service: String,
        _ words: String,
        _ body: @BusActor (PasscodeBench, _ file: String) async throws -> Void
    ) async throws {
        let making = ["/usr/bin/make", "--directory", project, "test-pam"]
        let made = try await ChildProcess(making, mergesErrors: true).ended(within: .seconds(120))
        try expect(made.status == 0, "expected a module: \(made.output)")
        try await PasscodeBench.inside(service: service) { folder in
            let words = words.replacing("FILE", with: "\(folder)/left")
            let line = "auth required \(project)/.build/pam/pam_leave.so \(words)\n"
            try TemporaryFolder.write("\(folder)/\(service)", line.utf8)
            return ["/usr/bin/env"]
        } _: { bench in
            try await body(bench, bench.bus.folder + "/left")
        }
    }

    /// Returns the pids of the leftover process, its new parent, and the module's process.
    static func left(in file: String) throws -> [pid_t] {
        try text(file).split { $0 == " " || $0 == "\n" }.compactMap { pid_t($0) }
    }
}
