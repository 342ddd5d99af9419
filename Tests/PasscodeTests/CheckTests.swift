import CPAM
import DBus
import Glibc
import LocalAuthBus
import Sealing
import TestSupport
import Testing

@testable import localauth_passcode

/// The process that checks a password, and its traces.
@Suite("Check process", .timeLimit(.minutes(10)))
struct CheckTests {
    init() { EventLoop.shared.startThread() }

    static let isRoot = getuid() == 0
    static let project =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    /// Calls Verify with a password.
    @BusActor static func verify(
        _ bench: PasscodeBench,
        _ passcode: String = "2468",
        uid: UInt32? = nil
    ) -> Task<Bool?, Never> {
        Task { @BusActor in try? await bench.verify(Array(passcode.utf8), uid: uid) }
    }

    static func text(_ path: String) throws -> String {
        String(decoding: try TemporaryFolder.read(path), as: UTF8.self)
    }

    /// Returns the value of a line in `/proc/PID/status` and similar files.
    private static func value(_ name: String, in path: String) throws -> String {
        let lines = try text(path).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(name) })
        let words = line.dropFirst(name.count).split { $0 == " " || $0 == "\t" }
        return words.joined(separator: " ")
    }

    @Test("L10: PAM never receives a password that it could not accept")
    func neverAsked() async throws {
        try await PasscodeBench.with(service: "localauth-counted") { bench in
            for passcode in [Array("2468\0".utf8), [UInt8](repeating: 0x32, count: 512)] {
                try expect(try await !bench.verify(passcode), "a wrong one")
            }
            #expect(bench.checks == [])
            try expect(try await !bench.verify([UInt8](repeating: 0x32, count: 511)), "a wrong one")
            #expect(bench.checks.count == 1)
        }
    }

    @Test(
        "No password opens an account without a password, even if its PAM service allows it",
        .enabled(if: ShadowTests.isPossible, "needs a mount namespace")
    )
    func emptyField() async throws {
        try await PasscodeBench.inside(service: "localauth-unix") { folder in
            try TemporaryFolder.write(folder + "/shadow", ShadowTests.line(""), mode: 0o600)
            return ShadowTests.entering(folder + "/shadow", as: "/etc/shadow")
        } _: { bench in
            try expect(try await !bench.verify("2468"), "a wrong one")
            let line = ShadowTests.line(Self.hash)
            try TemporaryFolder.write(bench.bus.folder + "/shadow", line)
            #expect(try await bench.verify("2468"))
        }
    }

    /// The hash of the password 2468.
    private static let hash =
        "$6$proof$iL0PXtJCUttcmaDyYjCiOsij1Pca4X5vstKN6gGbXxyKNcUlLWJa."
        + "5asrcKSjsBA/pDlGk6BeHuIMwgrUw.DJ0"

    @Test(
        "The installed PAM service accepts only the login password",
        .enabled(if: ShadowTests.isPossible, "needs a mount namespace")
    )
    func shippedService() async throws {
        try await PasscodeBench.inside(service: "localauth") { folder in
            let shipped = try TemporaryFolder.read(Self.project + "/dbus/pam/localauth")
            try TemporaryFolder.write(folder + "/localauth", shipped)
            let line = ShadowTests.line(Self.hash)
            try TemporaryFolder.write(folder + "/shadow", line, mode: 0o600)
            return ShadowTests.entering(folder + "/shadow", as: "/etc/shadow")
        } _: { bench in
            try expect(try await !bench.verify("1357"), "a wrong one")
            #expect(try await bench.verify("2468"))
        }
    }

    @Test("A module that accepts no more guesses makes the password wrong")
    func maximumTries() async throws {
        try await PasscodeBench.with(service: "localauth-tries") { bench in
            try expect(try await !bench.verify("2468"), "a wrong one")
        }
    }

    @Test(
        "A check leaves no core file, passes on no descriptors, and blocks no signals",
        .enabled(if: isRoot, "the limit of core files is raised first")
    )
    func surroundings() async throws {
        let launcher = ["/usr/bin/prlimit", "--core=1048576:1048576"]
        let service = "localauth-slow"
        try await PasscodeBench.inside(service: service) { _ in
            launcher
        } _: { bench in
            let verdict = Self.verify(bench)
            let check = try await bench.hangingCheck()
            let own = "/proc/\(bench.program.pid)"
            let ownLimit = try Self.value("Max core file size", in: own + "/limits")
            #expect(ownLimit != "0 0 bytes")
            let ownBlocked = try Self.value("SigBlk:", in: own + "/status")
            #expect(ownBlocked.contains { $0 != "0" })
            let limit = try Self.value("Max core file size", in: "/proc/\(check)/limits")
            #expect(limit == "0 0 bytes")
            let blocked = try Self.value("SigBlk:", in: "/proc/\(check)/status")
            #expect(blocked.allSatisfy { $0 == "0" })
            // The C library reserves higher signal numbers.
            func ignored(_ process: String) throws -> UInt64 {
                let mask = try Self.value("SigIgn:", in: process + "/status")
                return try #require(UInt64(mask, radix: 16)) & 0x7FFF_FFFF
            }
            #expect(try ignored(own) != 0)
            #expect(try ignored("/proc/\(check)") == 0)
            for descriptor in [PasscodeCheck.input, PasscodeCheck.pipe] {
                let path = "/proc/\(check)/fdinfo/\(descriptor)"
                let flags = try #require(Int32(try Self.value("flags:", in: path), radix: 8))
                #expect(flags & O_CLOEXEC != 0)
            }
            kill(check, SIGKILL)
            #expect(await verdict.value == nil)
        }
    }

    @Test(
        "After its verdict, a check has no trace of the password in memory",
        .enabled(if: isRoot, "looks into another process")
    )
    func wiped() async throws {
        try await PasscodeBench.with(service: "localauth-tries", [], Self.expectWiped)
    }

    /// Checks wrong passwords, and searches the memory of each check process.
    @BusActor static func expectWiped(_ bench: PasscodeBench) async throws {
        // A short pattern also finds partial traces; long ones are often overwritten in part.
        let part = "Qz7#"
        let passcode = String(repeating: part, count: 120)
        var counts: [Int] = []
        // Repeat the search: the process lives only three seconds, and traces are not always found.
        for _ in 0..<8 {
            try expect(try await !bench.verify(passcode), "a wrong one")
            guard let check = bench.children.first, kill(check, SIGSTOP) == 0 else { continue }
            let count = try? occurrences(of: part, in: check)
            if let count, !PasscodeBench.hasEnded(check) { counts.append(count) }
            kill(check, SIGKILL)
        }
        #expect(!counts.isEmpty && counts.allSatisfy { $0 == 0 })
    }

    @Test(
        "Without lockable memory, no password is checked",
        .enabled(if: !isSanitized, "a sanitizer locks nothing, and says that it did")
    )
    func unlockedMemory() async throws {
        // A capability exempts root from the limit, so drop it.
        let unable = ["/usr/bin/setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
        try await PasscodeBench.inside { _ in
            ["/usr/bin/prlimit", "--memlock=0:0"] + (Self.isRoot ? unable : [])
        } _: { bench in
            try await expectError(.passcodeFailed, of: "a check") {
                _ = try await bench.verify("2468")
            }
        }
    }

    @Test(
        "A check ends the processes that its module left behind",
        arguments: [false, true]
    )
    func leftOver(endsVerifier: Bool) async throws {
        try await Self.inside("leaving", "FILE") { bench, file in
            #expect(try await bench.verify("2468"))
            let processes = try Self.left(in: file)
            try #require(processes.count == 3)
            let left = processes[0]
            // The leftover process waits forever, so the test must kill it.
            defer { if kill(left, 0) == 0 { kill(left, SIGKILL) } }
            #expect(processes[1] == processes[2], "its check takes it over")
            if endsVerifier {
                bench.program.signal(SIGTERM)
                #expect(try await bench.program.exitStatus(within: .seconds(60)) == 0)
            }
            try await eventually("the end of what was left", within: .seconds(60)) {
                PasscodeBench.hasEnded(left)
            }
        }
    }

    @Test("A stopped check is killed after its deadline")
    func deadline() async throws {
        try await PasscodeBench.with(service: "localauth-slow") { bench in
            let verdict = Self.verify(bench)
            let check = try await bench.hangingCheck()
            // A stopped process can't receive its own alarm.
            kill(check, SIGSTOP)
            try await eventually("the end of the check", within: .seconds(90)) {
                kill(check, 0) != 0
            }
            #expect(await verdict.value == nil)
            #expect(bench.program.isRunning)
        }
    }

    @Test("A check whose verifier was killed ends by itself")
    func orphan() async throws {
        try await PasscodeBench.with(service: "localauth-slow") { bench in
            let verdict = Self.verify(bench)
            let check = try await bench.hangingCheck()
            bench.program.signal(SIGKILL)
            #expect(await verdict.value == nil)
            defer { kill(check, SIGKILL) }
            try await eventually("the end of the check", within: .seconds(90)) {
                PasscodeBench.hasEnded(check)
            }
        }
    }

    @Test("L20: A failure is reported after PAM's delay, and each verdict's process lives longer")
    func delay() async throws {
        try await PasscodeBench.with(service: "localauth-delayed") { bench in
            // Half of PAM's delay is four seconds, so an immediate reply or exit would be noticed.
            let right = try await bench.life { try await bench.verify("2468") }
            #expect(right.verdict)
            #expect(right.life > CheckReport.lifetimeUnit + .seconds(1))
            let start = ContinuousClock.now
            let wrong = try await bench.life {
                let verdict = try await bench.verify("1357")
                #expect(ContinuousClock.now - start >= .milliseconds(3900))
                return verdict
            }
            #expect(!wrong.verdict)
            #expect(wrong.life > CheckReport.lifetimeUnit + .seconds(1))
        }
    }

    @Test(
        "At most sixteen checks run at once, for any number of users",
        .enabled(if: isRoot, "asks about others")
    )
    func children() async throws {
        try await PasscodeBench.with { bench in
            let most = PasscodeObject.maximumChildren
            // These users don't exist. Their checks report that, but live on for a while.
            let calls = (0...UInt32(most)).map { Self.verify(bench, uid: 3_000_000_000 + $0) }
            var seen = 0
            let answered = EventRecorder<Bool>()
            Task { @BusActor in
                for call in calls { _ = await call.value }
                answered.record(true)
            }
            while answered.seen.isEmpty {
                seen = max(seen, bench.children.count)
                await pause(.milliseconds(5))
            }
            #expect(seen > 1 && seen <= most)
        }
    }

    @Test(
        "L21: A check that ends does not end another user's check",
        .enabled(if: isRoot, "asks about others")
    )
    func neighbours() async throws {
        try await PasscodeBench.with { bench in
            let folder = bench.bus.folder
            try TemporaryFolder.write(folder + "/held", [])
            let verdict = Self.verify(bench)
            try await eventually("its module") { access(folder + "/holding", F_OK) == 0 }
            let running = bench.children
            // This user doesn't exist, and its process lives on for a while.
            #expect(await Self.verify(bench, uid: 3_000_000_001).value == nil)
            try await eventually("the end of its process") { bench.children == running }
            // This reply follows the verifier's reaction to that end.
            _ = try await bench.verifier.isSet(uid: bench.user)
            try #require(unlink(folder + "/held") == 0)
            #expect(await verdict.value == true)
        }
    }

    @Test("A waiting check never begins after its caller disconnected")
    func leftWhileWaiting() async throws {
        try await PasscodeBench.with(service: "localauth-counted") { bench in
            #expect(try await bench.verify("2468"))
            // The next check waits until the first process ends.
            kill(bench.checks[0], SIGSTOP)
            let waiting = Self.verify(bench)
            _ = try await bench.verifier.isSet(uid: bench.user)
            bench.daemon.close()
            #expect(await waiting.value == nil)
            let next = try bench.bus.connect()
            _ = try await bench.bus.waitForOwner(of: "org.localauth.Authentication1", false)
            try next.requestName("org.localauth.Authentication1")
            let verifier = PasscodeBench.proxy(next, bench.verifier.destination)
            #expect(try await bench.verify(Array("2468".utf8), by: verifier))
            #expect(bench.checks.count == 2)
            try await eventually("the reason to be logged") {
                bench.program.errors.contains("Nobody waits for this check")
            }
        }
    }

    @Test("A verifier that is stopping begins no check")
    @BusActor func leaving() async throws {
        try await PrivateBus.run { bus in
            let daemon = try bus.connect()
            try daemon.requestName("org.localauth.Authentication1")
            let connection = try bus.connect()
            let verifier = PasscodeObject(
                daemon: DaemonCaller(on: connection),
                key: SealingKey(),
                service: "no-such-service",
                directory: bus.folder,
                isSet: .always
            )
            try verifier.serve(on: connection)
            await verifier.leave(connection)
            let proxy = PasscodeBench.proxy(daemon, connection.uniqueName)
            try await expectError(.passcodeCanceled, of: "Verify") {
                _ = try await proxy.verify(uid: getuid(), prompt: "prompt", sealed: [])
            }
            #expect(verifier.isIdle)
        }
    }

    @Test(
        "Without root, a verifier checks only its own user",
        .enabled(if: isRoot, "starts one as another user")
    )
    func withoutRoot() async throws {
        try await PasscodeBench.inside { folder in
            chmod(folder, 0o755)
            return ["/usr/bin/setpriv", "--reuid=5", "--regid=5", "--clear-groups"]
        } _: { bench in
            for uid in [UInt32(0), 6] {
                try await expectError(.passcodeFailed, of: "Verify") {
                    _ = try await bench.verify(Array("2468".utf8), uid: uid)
                }
            }
            #expect(try await bench.verify(Array("2468".utf8), uid: 5))
        }
    }

    @Test("A partial verdict is no verdict")
    func halfAVerdict() throws {
        for size in [4, 8] {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            let words = [Verdict.correct.rawValue, 0]
            try #require(write(ends[1], words, size) == size)
            #expect(CheckReport(from: ends[0]) == (size == 8 ? CheckReport(.correct) : nil))
        }
    }

    @Test("A module's number of questions must be within PAM's limits", arguments: [-1, 0, 33])
    func questions(_ count: Int32) {
        var passcode: [CChar] = [0x32, 0]
        passcode.withUnsafeMutableBufferPointer { passcode in
            guard let text = passcode.baseAddress else { return }
            var conversation = Conversation(passcode: text)
            var question = pam_message(msg_style: PAM_PROMPT_ECHO_OFF, msg: nil)
            withUnsafePointer(to: &question) { question in
                var questions = [UnsafePointer<pam_message>?](repeating: question, count: 33)
                var answers: UnsafeMutablePointer<pam_response>?
                let code = withUnsafeMutablePointer(to: &conversation) { conversation in
                    converse(
                        count: count,
                        messages: &questions,
                        answers: &answers,
                        conversation: conversation
                    )
                }
                #expect(code == PAM_CONV_ERR)
                #expect(answers == nil)
            }
        }
    }

    @Test("A visible prompt gets no password, and a message gets no answer")
    func styles() {
        for style in [PAM_PROMPT_ECHO_ON, 99] {
            let (code, answers) = Self.answers(to: [PAM_PROMPT_ECHO_OFF, style])
            #expect(code == PAM_CONV_ERR && answers == nil, "\(style)")
        }
        let sentences = [PAM_TEXT_INFO, PAM_ERROR_MSG]
        let (code, answers) = Self.answers(to: sentences + [PAM_PROMPT_ECHO_OFF])
        #expect(code == PAM_SUCCESS)
        #expect(answers == [nil, nil, "2"])
    }

    /// Returns the answers to a module that asks these questions at once.
    private static func answers(to styles: [Int32]) -> (code: Int32, answers: [String?]?) {
        var passcode: [CChar] = [0x32, 0]
        var questions = styles.map { pam_message(msg_style: $0, msg: nil) }
        var answers: UnsafeMutablePointer<pam_response>?
        let code = passcode.withUnsafeMutableBufferPointer { passcode -> Int32 in
            guard let text = passcode.baseAddress else { return PAM_BUF_ERR }
            var conversation = Conversation(passcode: text)
            return questions.withUnsafeMutableBufferPointer { questions in
                var list = questions.indices.map { index in
                    questions.baseAddress.map { UnsafePointer($0 + index) }
                }
                return withUnsafeMutablePointer(to: &conversation) { conversation in
                    converse(
                        count: Int32(list.count),
                        messages: &list,
                        answers: &answers,
                        conversation: conversation
                    )
                }
            }
        }
        guard let answers else { return (code, nil) }
        defer { free(answers) }
        let texts = styles.indices.map { index -> String? in
            guard let text = answers[index].resp else { return nil }
            defer { free(text) }
            return String(cString: text)
        }
        return (code, texts)
    }
}
