import CPAM
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

@testable import localauth_passcode

/// Locked accounts, with the real module.
extension CheckTests {
    private static let hasFaillock: Bool = {
        var found = glob_t()
        defer { globfree(&found) }
        return glob("/lib/*/security/pam_faillock.so", 0, nil, &found) == 0
    }()

    /// A stack with `pam_faillock` and a counter of passwords.
    private static func stack(_ preauth: String, _ options: String, in folder: String) -> String {
        """
        auth \(preauth) pam_faillock.so preauth \(options)
        auth [success=2 default=ignore] pam_exec.so quiet expose_authtok \(folder)/count-checks
        auth optional pam_faillock.so authfail \(options)
        auth requisite pam_deny.so
        auth required pam_faillock.so authsucc \(options)
        account required pam_permit.so

        """
    }

    /// Writes root's counter: a record for each time, and their status.
    private static func write(_ times: [UInt64], status: UInt16 = 1, in folder: String) throws {
        var bytes: [UInt8] = []
        for time in times {
            bytes += [UInt8](repeating: 0x20, count: 54)
            withUnsafeBytes(of: status) { bytes += $0 }
            withUnsafeBytes(of: time) { bytes += $0 }
        }
        try TemporaryFolder.write(folder + "/root", bytes, mode: 0o600)
    }

    @Test(
        "L10: After pam_faillock's limit, no module sees a password, and no attempt counts",
        .enabled(if: isRoot && hasFaillock, "needs root and pam_faillock"),
        arguments: ["requisite", "required"],
        ["", " silent"]
    )
    func faillock(_ control: String, _ silent: String) async throws {
        try await PasscodeBench.with(service: "locking") { bench in
            let folder = bench.bus.folder
            let options = "deny=2 nodelay even_deny_root dir=\(folder)\(silent)"
            let stack = Self.stack(control, options, in: folder)
            try TemporaryFolder.write(folder + "/locking", stack.utf8)
            for _ in 0..<2 { try expect(try await !bench.verify("1357"), "a wrong one") }
            for passcode in ["1357", "2468"] {
                let error = await #expect(throws: DBusError.self) {
                    try await bench.verify(passcode)
                }
                #expect(error?.name == .passcodeRefused)
                #expect(error?.message.contains("locked due to 2 failed logins") == true)
            }
            #expect(bench.checks.count == 2)
            try #require(unlink(folder + "/root") == 0)
            #expect(try await bench.verify("2468"))
        }
    }

    @Test(
        "L10: Without a sure lock, PAM judges the password, and a wrong password counts",
        .enabled(if: isRoot && hasFaillock, "needs root and pam_faillock")
    )
    func unsureLock() async throws {
        try await PasscodeBench.with(service: "locking") { bench in
            let folder = bench.bus.folder
            let options = "deny=2 nodelay even_deny_root dir=\(folder)"
            func use(_ lines: String) throws {
                try TemporaryFolder.write(folder + "/locking", lines.utf8)
            }
            let now = UInt64(time(nil))
            // The module unlocks, and the password is judged.
            try use(Self.stack("required", options + " unlock_time=600", in: folder))
            try Self.write([now - 700, now - 700], in: folder)
            try expect(try await !bench.verify("1357"), "a wrong password counts")
            #expect(try await bench.verify("2468"))
            // The lock is another stack's.
            try use(
                """
                auth [success=1 default=ignore] pam_exec.so quiet expose_authtok \(folder)/count-checks
                auth requisite pam_deny.so
                auth required pam_permit.so

                """
            )
            try Self.write([now, now], in: folder)
            try expect(try await !bench.verify("1357"), "a wrong password counts")
            #expect(try await bench.verify("2468"))
            // A line before the module grants.
            try use(
                "auth sufficient pam_exec.so quiet expose_authtok \(folder)/count-checks\n"
                    + Self.stack("required", options, in: folder)
            )
            #expect(try await bench.verify("2468"))
            // The module's message refuses nothing.
            try use(Self.stack("optional", options, in: folder))
            try expect(try await !bench.verify("1357"), "a wrong password counts")
            // Without `preauth`, the lock appears after the password.
            let lines = Self.stack("required", options, in: folder).split(separator: "\n")
                .dropFirst()
            try use(lines.joined(separator: "\n") + "\n")
            for passcode in ["1357", "2468"] {
                try expect(try await !bench.verify(passcode), "\(passcode) counts")
            }
        }
    }

    /// Settings of the module, with the records of a counter as seconds before now.
    private static let locks: [(options: String, settings: String, ages: [Int], isLocked: Bool)] = [
        ("deny=2 even_deny_root", "", [9, 9], true), ("deny=3 even_deny_root", "", [9, 9], false),
        ("deny=2", "", [9, 9], false), ("even_deny_root", "", [9, 9, 9], true),
        ("even_deny_root", "", [9, 9], false), ("deny=0 even_deny_root", "", [9, 9, 9], false),
        ("deny=2 even_deny_root", "", [550, 550], true),
        ("deny=2 even_deny_root", "", [650, 650], false),
        ("deny=2 even_deny_root", "", [9, 850], true),
        ("deny=2 even_deny_root", "", [9, 950], false),
        ("deny=2 even_deny_root fail_interval=2000", "", [9, 950], true),
        ("deny=2 even_deny_root unlock_time=0", "", [90_000, 90_000], true),
        ("deny=2 even_deny_root unlock_time=never", "", [90_000, 90_000], true),
        ("deny=2 even_deny_root unlock_time=60", "", [90, 90], false),
        ("deny=2 even_deny_root unlock_time=60 root_unlock_time=900", "", [90, 90], true),
        ("deny=2 even_deny_root root_unlock_time=never", "", [90_000, 90_000], true),
        ("deny=2 even_deny_root root_unlock_time=60", "", [90, 90], false),
        ("deny=2 even_deny_root", "", [-90_000, -90_000], true),
        ("", "deny = 2\neven_deny_root", [9, 9], true),
        ("", "deny=2\neven_deny_root\n", [9, 9], true),
        ("", "  deny\t2 # three\r\n#deny=3\neven_deny_root", [9, 9], true),
        ("", "# three\r\ndeny = 2\r\neven_deny_root\r\n", [9, 9], true),
        ("deny=3", "deny=2\neven_deny_root", [9, 9], false),
        ("", "silent\naudit\neven_deny_root\nunlock_time = 60", [90, 90, 90], false),
    ]

    @Test(
        "The verifier sees the same locks as pam_faillock",
        .enabled(if: isRoot && hasFaillock, "needs root and pam_faillock")
    )
    func counters() throws {
        let folder = try TemporaryFolder()
        func expectLock(_ isLocked: Bool, _ options: [String]) throws {
            let lock = try #require(Faillock(options: options), "\(options)")
            let failures = lock.failures(of: "root", uid: 0, at: UInt64(time(nil)))
            #expect((failures != nil) == isLocked, "\(options)")
            #expect(try Self.isLocked(options, in: folder.path) == isLocked, "\(options)")
        }
        let basic = ["preauth", "silent", "nodelay", "dir=\(folder.path)"]
        for (options, text, ages, isLocked) in Self.locks {
            try TemporaryFolder.write(folder.path + "/settings", text.utf8)
            let now = time(nil)
            try Self.write(ages.map { UInt64(now - $0) }, in: folder.path)
            let words = options.split(separator: " ").map(String.init)
            try expectLock(isLocked, basic + ["conf=\(folder.path)/settings"] + words)
        }
        let strict = basic + ["deny=2", "even_deny_root"]
        let now = UInt64(time(nil))
        try Self.write([now, now], status: 6, in: folder.path)
        try expectLock(false, strict)
        try Self.write([.max, .max], in: folder.path)
        try expectLock(false, strict)
        try TemporaryFolder.write(folder.path + "/root", [UInt8](repeating: 1, count: 63))
        try expectLock(false, strict)
        try #require(unlink(folder.path + "/root") == 0)
        try expectLock(false, strict)
        // The verifier leaves a link to PAM.
        try Self.write([now, now], in: folder.path)
        try #require(rename(folder.path + "/root", folder.path + "/other") == 0)
        try #require(symlink("other", folder.path + "/root") == 0)
        let lock = try #require(Faillock(options: strict))
        #expect(lock.failures(of: "root", uid: 0, at: now) == nil)
        #expect(lock.failures(of: "./other", uid: 1, at: now) == nil)
        #expect(lock.failures(of: "other", uid: 1, at: now) == 2)
    }

    /// Asks the module itself, without a password.
    private static func isLocked(_ options: [String], in folder: String) throws -> Bool {
        let lines = "auth required pam_faillock.so \(options.joined(separator: " "))\n"
        try TemporaryFolder.write(folder + "/locking", lines.utf8)
        var functions = pam_conv(conv: converse, appdata_ptr: nil)
        // SAFETY: PAM uses the pointer until pam_end, in this function.
        var started: OpaquePointer?
        let start = pam_start_confdir("locking", "root", &functions, folder, &started)
        try #require(start == PAM_SUCCESS)
        let handle = try #require(started)
        let code = pam_authenticate(handle, 0)
        pam_end(handle, code)
        #expect([PAM_SUCCESS, PAM_AUTH_ERR].contains(code), "\(code)")
        return code == PAM_AUTH_ERR
    }

    @Test(
        "L10: A check that pam_faillock holds up counts, unless a directory takes the password",
        arguments: [
            ("auth required pam_faillock.so preauth\nauth required pam_unix.so\n", true),
            ("auth required pam_unix.so\n", false),
            ("auth required pam_faillock.so preauth\nauth required pam_sss.so\n", false),
        ]
    )
    func overdue(_ stack: String, _ counts: Bool) throws {
        let folder = try TemporaryFolder()
        try TemporaryFolder.write(folder.path + "/locking", stack.utf8)
        let check = PasscodeCheck(service: "locking", directory: folder.path, uid: 0)
        #expect((check.overdueReport?.verdict == .wrong) == counts)
    }
}
