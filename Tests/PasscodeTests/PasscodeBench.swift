import DBus
import Glibc
import LocalAuthBus
import Sealing
import TestSupport
import Testing

/// A private bus with a verifier that uses the PAM services of `Tests/pam`.
@BusActor final class PasscodeBench {
    let bus: PrivateBus
    let daemon: Connection
    let program: ChildProcess
    let verifier: Passcode1Proxy
    let key: RecipientKey
    let user = getuid()

    /// Starts the verifier.
    ///
    /// The test plays the daemon.
    private init(
        _ bus: PrivateBus,
        _ service: String,
        _ options: [String],
        _ launcher: [String] = []
    ) async throws {
        self.bus = bus
        try PAMService.install(in: bus.folder)
        daemon = try bus.connect()
        try daemon.requestName("org.localauth.Authentication1")
        let name = launcher.isEmpty ? "" : ChildProcess.folder + "/"
        program = try bus.start(
            launcher + [name + "localauth-passcode"]
                + ["--pam-service", service, "--pam-directory", bus.folder] + options
        )
        let owner = try await bus.waitForOwner(of: "org.localauth.Passcode1")
        verifier = Self.proxy(daemon, try #require(owner))
        key = try #require(RecipientKey(try await verifier.sealingKey()))
    }

    static func proxy(_ connection: Connection, _ owner: String) -> Passcode1Proxy {
        Passcode1Proxy(
            connection,
            destination: owner,
            path: ObjectPath(trusted: "/org/localauth/Passcode1")
        )
    }

    /// Runs a test with a new bench, which ends afterwards.
    static func with(
        service: String = PAMService.name,
        _ options: [String] = [],
        _ body: @BusActor (PasscodeBench) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            try await body(try await PasscodeBench(bus, service, options))
        }
    }

    /// Runs a test with a verifier in the environment that `enter` prepares in the bus's folder.
    static func inside(
        service: String = PAMService.name,
        _ enter: (_ folder: String) throws -> [String],
        _ body: @BusActor (PasscodeBench) async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let launcher = try enter(bus.folder)
            try await body(try await PasscodeBench(bus, service, [], launcher))
        }
    }

    /// Calls Verify with this password, sealed for a prompt.
    func verify(
        _ passcode: [UInt8],
        uid: UInt32? = nil,
        by other: Passcode1Proxy? = nil
    ) async throws -> Bool {
        try await (other ?? verifier)
            .verify(uid: uid ?? user, prompt: Self.prompt, sealed: Self.seal(passcode, to: key))
    }

    func verify(_ passcode: String) async throws -> Bool {
        try await verify(Array(passcode.utf8))
    }

    static let prompt = "0123456789abcdef"

    static func seal(_ passcode: [UInt8], to key: RecipientKey) throws -> [UInt8] {
        try #require(key.seal(passcode, for: .passcode, of: prompt))
    }

    /// The processes of the checks by `localauth-counted`, in the order of their start.
    var checks: [pid_t] { pids(in: "checks") }

    /// The checks that still ran when the next check began.
    var overlaps: [pid_t] { pids(in: "overlaps") }

    private func pids(in file: String) -> [pid_t] { numbers(in: file).map(pid_t.init) }

    private func numbers(in file: String) -> [Int] {
        guard let bytes = try? TemporaryFolder.read("\(bus.folder)/\(file)") else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n"))
            .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns the lifetime of the check process that `body` starts, and the verdict.
    ///
    /// The start time comes from the kernel, because the check's script may begin much later on a
    /// busy machine.
    func life(
        of body: @BusActor @Sendable @escaping () async throws -> Bool
    ) async throws -> (life: Duration, verdict: Bool) {
        let before = checks.count
        let check = Task { @BusActor in try await body() }
        try await eventually("the check to begin") { self.checks.count > before }
        let pid = checks[before]
        let ticks = numbers(in: "beginnings")[before]
        let start = Duration.seconds(ticks) / sysconf(Int32(_SC_CLK_TCK))
        let verdict = try await check.value
        while kill(pid, 0) == 0 { await pause(.milliseconds(10)) }
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return (Self.duration(now) - start, verdict)
    }

    static func duration(_ time: timespec) -> Duration {
        .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The check processes that exist now.
    var children: [pid_t] {
        let pid = program.pid
        let said = (try? TemporaryFolder.read("/proc/\(pid)/task/\(pid)/children")) ?? []
        return String(decoding: said, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
    }

    /// Whether a process has ended or is a zombie.
    nonisolated static func hasEnded(_ pid: pid_t) -> Bool {
        guard let stat = try? TemporaryFolder.read("/proc/\(pid)/stat") else { return true }
        // The state follows the name, which may contain any characters.
        let state = String(decoding: stat, as: UTF8.self).split(separator: ")").last
        return state?.hasPrefix(" Z") ?? true
    }

    /// Waits until a check by `localauth-slow` hangs, and returns its process.
    func hangingCheck() async throws -> pid_t {
        while true {
            if let bytes = try? TemporaryFolder.read(bus.folder + "/hanging"),
                let line = bytes.split(separator: UInt8(ascii: "\n")).first,
                let pid = pid_t(String(decoding: line, as: UTF8.self))
            {
                return pid
            }
            await pause(.milliseconds(10))
        }
    }
}
