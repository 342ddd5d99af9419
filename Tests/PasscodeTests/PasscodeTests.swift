import DBus
import Glibc
import LocalAuthBus
import Sealing
import TestSupport
import Testing

@testable import localauth_passcode

/// The verifier as a real process, with real PAM.
@Suite(.timeLimit(.minutes(10)))
struct PasscodeTests {
    init() { EventLoop.shared.startThread() }

    @Test("The right password is accepted and another password refused")
    func rightAndWrong() async throws {
        try await PasscodeBench.with { bench in
            try expect(try await bench.verify("2468"), "2468 to be right")
            try expect(try await !bench.verify("1357"), "1357 to be wrong")
            try expect(try await bench.verify("2468"), "2468 to be right")
        }
    }

    @Test("By default, the verifier uses the installed PAM service")
    func defaultService() throws {
        let help = try ChildProcess.run(["localauth-passcode", "--help"]).output
        let option = help.split(separator: "\n").first { $0.contains("--pam-service") }
        #expect(option?.hasSuffix("(default: localauth)") == true, "\(help)")
    }

    @Test("An idle verifier exits cleanly, but not while a check runs")
    @BusActor func idle() async throws {
        try await PrivateBus.run { bus in
            try PAMService.install(in: bus.folder)
            let daemon = try bus.connect()
            try daemon.requestName("org.localauth.Authentication1")
            // The bus starts the verifier with the first call, so that it isn't idle before.
            let script = """
                cd '\(bus.folder)' || exit
                export RUNTIME_DIRECTORY='\(bus.folder)'
                : >began
                '\(ChildProcess.folder)/localauth-passcode' --pam-service '\(PAMService.name)' \
                    --pam-directory '\(bus.folder)' --idle-timeout 1 "$@" 2>said
                echo $? >ended
                """
            try TemporaryFolder.write(bus.folder + "/verifier", script.utf8)
            try await bus.offer("org.localauth.Passcode1", ["/bin/sh", bus.folder + "/verifier"])
            let verifier = PasscodeBench.proxy(daemon, "org.localauth.Passcode1")
            let key = try #require(RecipientKey(try await verifier.sealingKey()))
            @BusActor func verify(_ passcode: String) async throws -> Bool {
                try await verifier.verify(
                    uid: getuid(),
                    prompt: PasscodeBench.prompt,
                    sealed: PasscodeBench.seal(Array(passcode.utf8), to: key)
                )
            }
            #expect(try await !verify("1357"))
            try await eventually("its end") {
                (try? TemporaryFolder.read(bus.folder + "/ended"))?.isEmpty == false
            }
            #expect(try TemporaryFolder.read(bus.folder + "/ended") == Array("0\n".utf8))
            #expect(try TemporaryFolder.read(bus.folder + "/said").isEmpty)
            var (began, ended) = (stat(), stat())
            try #require(stat(bus.folder + "/began", &began) == 0)
            try #require(stat(bus.folder + "/ended", &ended) == 0)
            let life =
                PasscodeBench.duration(ended.st_mtim) - PasscodeBench.duration(began.st_mtim)
            #expect(life >= CheckReport.lifetimeUnit, "it ended before its check")
            // The next process must keep the key.
            #expect(try await verify("2468"))
        }
    }

    @Test("L10: A password that PAM could never accept is wrong, not an error")
    func badPacket() async throws {
        try await PasscodeBench.with { bench in
            for size in [512, 1024] {
                let passcode = [UInt8](repeating: 0x32, count: size)
                try expect(try await !bench.verify(passcode), "\(size) bytes to be wrong")
            }
            try expect(try await !bench.verify("2468\0"), "a NUL to be wrong")
        }
    }

    @Test("L32: A packet that does not open, or is empty, is InvalidArgs and starts no check")
    func unopened() async throws {
        try await PasscodeBench.with(service: "localauth-counted") { bench in
            let prompt = PasscodeBench.prompt
            let sealed = try PasscodeBench.seal(Array("2468".utf8), to: bench.key)
            for (handle, sealed) in [
                ("another prompt", sealed), (prompt, Array(sealed.dropLast())),
                (prompt, try PasscodeBench.seal([], to: bench.key)),
            ] {
                try await expectError(.invalidArgs, of: "Verify of \(sealed.count) bytes") {
                    _ = try await bench.verifier.verify(
                        uid: bench.user,
                        prompt: handle,
                        sealed: sealed
                    )
                }
            }
            #expect(bench.checks == [])
        }
    }

    @Test("L20: A user has one check at a time, for any number of calls")
    func oneAtATime() async throws {
        try await PasscodeBench.with(service: "localauth-counted") { bench in
            let calls = ["1", "2468", "2"]
                .map { word in Task { @BusActor in try await bench.verify(word) } }
            var verdicts: [Bool] = []
            for call in calls { verdicts.append(try await call.value) }
            #expect(verdicts == [false, true, false])
            #expect(bench.checks.count == 3)
            #expect(bench.overlaps == [])
        }
    }

    @Test(
        "L20: A check process lives equally long for right and wrong passwords"
    )
    func sameLife() async throws {
        let slow = Duration.milliseconds(1900)
        for elapsed in [Duration.zero, .milliseconds(40), slow, .seconds(4)] {
            let right = CheckReport(.correct, delay: 900_000).childLifetime(after: elapsed)
            #expect(right == CheckReport(.wrong, delay: 900_000).childLifetime(after: elapsed))
            #expect(right >= elapsed + .milliseconds(900))
        }
        #expect(
            CheckReport(.correct).childLifetime(after: .zero)
                == CheckReport(.wrong).childLifetime(after: slow)
        )
        try await PasscodeBench.with(service: "localauth-counted") { bench in
            for word in ["2468", "1357"] {
                let seen = try await bench.life { try await bench.verify(word) }
                #expect(seen.verdict == (word == "2468"))
                // If the process ended with its verdict, its lifetime would show PAM's duration.
                #expect(seen.life >= CheckReport.lifetimeUnit, "the process of \(word)")
            }
        }
    }

    @Test("A failure of PAM is an error, never a wrong password")
    func brokenModule() async throws {
        try await PasscodeBench.with(service: "localauth-broken") { bench in
            try await expectError(.passcodeFailed, of: "a missing module") {
                _ = try await bench.verify("2468")
            }
        }
        try await PasscodeBench.with(service: "no-such-service") { bench in
            try await expectError(.passcodeFailed, of: "a missing service") {
                _ = try await bench.verify("2468")
            }
        }
    }

    @Test("Only the daemon may call the verifier")
    func strangers() async throws {
        try await PasscodeBench.with { bench in
            let stranger = PasscodeBench.proxy(
                try bench.bus.connect(),
                bench.verifier.destination
            )
            try await expectError(.accessDenied, of: "IsSet") {
                _ = try await stranger.isSet(uid: bench.user)
            }
            try await expectError(.accessDenied, of: "Verify") {
                _ = try await bench.verify(Array("2468".utf8), by: stranger)
            }
        }
    }

    @Test("A uid without a user is an error")
    func unknownUsers() async throws {
        try await PasscodeBench.with { bench in
            try await expectError(.invalidArgs, of: "IsSet") {
                _ = try await bench.verifier.isSet(uid: .max)
            }
            try await expectError(.passcodeFailed, of: "IsSet") {
                _ = try await bench.verifier.isSet(uid: 4_000_000_001)
            }
            try await expectError(.passcodeFailed, of: "Verify") {
                _ = try await bench.verify(Array("2468".utf8), uid: 4_000_000_001)
            }
        }
    }

    @Test(
        "An option overrides whether a password is set",
        arguments: ["always": true, "never": false]
    )
    func setting(_ word: String, _ isSet: Bool) async throws {
        try await PasscodeBench.with(["--passcode-set", word]) { bench in
            try expect(try await bench.verifier.isSet(uid: bench.user) == isSet, "\(isSet)")
        }
    }

    @Test("The shadow file decides whether a password is set; a directory's users have no hash")
    func shadowEntries() {
        func isSet(_ shadow: ShadowEntry, _ hasDirectory: Bool) -> Bool {
            PasscodeSetting.isPasscode(shadow, hasDirectory: hasDirectory)
        }
        for hasDirectory in [false, true] {
            #expect(isSet(.field("$y$j9T$salt$hash"), hasDirectory))
            #expect(isSet(.unreadable, hasDirectory))
            for field in ["", "!$y$j9T$salt$hash", "!!$6$salt$hash", "!ab0123456789c"] {
                #expect(!isSet(.field(field), hasDirectory), "'\(field)'")
            }
            for field in ["!", "!!", "*", "!*", "*K*", "*NP*"] {
                #expect(isSet(.field(field), hasDirectory) == hasDirectory, "'\(field)'")
            }
            #expect(isSet(.missing, hasDirectory) == hasDirectory)
        }
    }

    @Test("R69: A shadow field without a hash has no password; a locked field keeps it")
    func removedFields() {
        for field in ["", "!", "!!", "*", "!*"] {
            #expect(PasscodeSetting.isRemoved(.field(field)), "'\(field)'")
        }
        for field in ["!$y$j9T$salt$hash", "!!$6$salt$hash", "$y$j9T$salt$hash", "!ab0123456789c"] {
            #expect(!PasscodeSetting.isRemoved(.field(field)), "'\(field)'")
        }
        #expect(!PasscodeSetting.isRemoved(.unreadable))
        #expect(!PasscodeSetting.isRemoved(.missing))
    }

    @Test(
        "The modules of a PAM service show whether a directory has passwords",
        arguments: [
            ("auth required pam_unix.so", false), ("account required pam_sss.so", false),
            ("auth sufficient pam_sss.so use_first_pass", true),
            ("# auth required pam_sss.so", false),
            ("-auth [success=ok new_authtok_reqd=ok default=die] /lib/security/pam_krb5.so", true),
            ("@include other", true), ("auth include other", true), ("auth substack other", true),
            ("auth include missing", false), ("auth include itself", false),
            ("auth requisite pam_faillock.so preauth", false), ("auth [broken", false),
        ]
    )
    func stacks(_ line: String, _ hasDirectory: Bool) throws {
        let folder = try TemporaryFolder()
        try TemporaryFolder.write(
            "\(folder.path)/itself",
            "auth required pam_unix.so\n\(line)".utf8
        )
        try TemporaryFolder.write("\(folder.path)/other", "AUTH required pam_ldap.so".utf8)
        let stack = PAMStack(service: "itself", directory: folder.path)
        #expect(stack.hasDirectory == hasDirectory)
    }

    @Test(
        "A stack surely refuses a locked account only if no line before pam_faillock can end it",
        arguments: [
            (
                "auth required pam_env.so\n-AUTH Requisite \\\n/lib/pam_faillock.so preauth silent",
                true
            ),
            ("@include optional\nauth required pam_faillock.so preauth", true),
            ("auth substack faillock", true), ("auth include itself\n@include faillock", false),
            ("auth required pam_faillock.so", false),
            ("account required pam_faillock.so preauth", false),
            ("auth required pam_faillock.so preauth authsucc", false),
            ("auth optional pam_faillock.so preauth", false),
            ("auth [default=die] pam_faillock.so preauth", false),
            ("auth sufficient pam_rootok.so\nauth required pam_faillock.so preauth", false),
            ("auth \\\nsufficient pam_rootok.so\nauth required pam_faillock.so preauth", false),
            ("auth [success=1 default=ignore] pam_localuser.so\n@include faillock", false),
            ("@include sufficient\n@include faillock", false),
            ("auth required pam_faillock.so preauth\nauth [default=reset] pam_unix.so", false),
            ("auth required pam_faillock.so preauth\nauth sufficient pam_unix.so", true),
            ("auth required pam_faillock.so preauth local_users_only", false),
            ("auth required pam_faillock.so preauth admin_group=wheel", false),
            ("auth required pam_faillock.so preauth conf=/none/faillock.conf", false),
            ("auth required pam_faillock.so preauth deny=many", false),
            ("auth required pam_faillock.so preauth [dir=/a b]", false),
        ]
    )
    func lockingStacks(_ lines: String, _ refuses: Bool) throws {
        let folder = try TemporaryFolder()
        let files = [
            "itself": lines, "faillock": "auth required pam_faillock.so preauth",
            "optional": "auth optional pam_echo.so hello",
            "sufficient": "auth sufficient pam_u2f.so",
        ]
        for (name, text) in files {
            try TemporaryFolder.write("\(folder.path)/\(name)", text.utf8)
        }
        let stack = PAMStack(service: "itself", directory: folder.path)
        #expect((stack.faillock != nil) == refuses)
    }

    @Test(
        "A right password resets the counter of failed logins",
        .enabled(if: geteuid() == 0, "pam_faillock keeps its files for root alone")
    )
    func resetCounter() async throws {
        try await PasscodeBench.with(service: "localauth-faillock") { bench in
            for turn in 1...3 {
                try expect(try await !bench.verify("1357"), "wrong in turn \(turn)")
                try expect(try await bench.verify("2468"), "right in turn \(turn)")
            }
        }
    }

    @Test("A right password of an expired account is refused, which is no attempt")
    func expiredAccount() async throws {
        try await PasscodeBench.with(service: "localauth-expired") { bench in
            try expect(try await !bench.verify("1357"), "a wrong password is wrong")
            let error = await #expect(throws: DBusError.self) { try await bench.verify("2468") }
            #expect([.passcodeFailed, .passcodeRefused].contains(error?.name))
        }
    }

    @Test("Hanging checks are limited in number, and end with the verifier")
    func hanging() async throws {
        try await PasscodeBench.with(service: "localauth-slow") { bench in
            var refusals: [DBusError] = []
            // A single call runs, the maximum waits, and the last call to arrive is refused.
            for _ in 0..<PasscodeObject.maximumWaiting + 2 {
                onLoop {
                    do {
                        _ = try await bench.verify("2468")
                    } catch {
                        if let refusal = error as? DBusError { refusals.append(refusal) }
                    }
                }
            }
            try await eventually("a refusal") { !refusals.isEmpty }
            #expect(refusals.map(\.name) == [.limitsExceeded])
            let check = try await bench.hangingCheck()
            let environment = try TemporaryFolder.read("/proc/\(check)/environ")
            #expect(
                environment.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } == [
                    "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "LD_BIND_NOW=1",
                ]
            )
            bench.program.signal(SIGTERM)
            let status = try await bench.program.exitStatus()
            #expect(status == 0)
            // The check's own alarm would fire after half a minute.
            try await eventually("the check to end", within: .seconds(15)) {
                PasscodeBench.hasEnded(check)
            }
        }
    }

    @Test("When the daemon leaves the bus, its check ends, and the next daemon is served")
    func daemonLeaves() async throws {
        try await PasscodeBench.with(service: "localauth-slow") { bench in
            onLoop { _ = try? await bench.verify("2468") }
            let check = try await bench.hangingCheck()
            bench.daemon.close()
            let next = try bench.bus.connect()
            _ = try await bench.bus.waitForOwner(of: "org.localauth.Authentication1", false)
            try next.requestName("org.localauth.Authentication1")
            let verifier = PasscodeBench.proxy(next, bench.verifier.destination)
            _ = try await verifier.isSet(uid: bench.user)
            // The check's deadline would fire after half a minute.
            try await eventually("the check to end", within: .seconds(20)) { kill(check, 0) != 0 }
        }
    }
}
