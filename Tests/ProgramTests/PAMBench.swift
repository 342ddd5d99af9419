import DBus
import Foundation
import Glibc
import LocalAuthBus
import TestSupport

/// The daemon, a sensor with an enrolled user, and PAM stacks with the module.
///
/// The modules after it accept the password of ``PAMService``.
@BusActor final class PAMBench {
    /// The user to recognise: `nobody` for root, who can't use sensors, else the tests' user.
    nonisolated static let uid: UInt32 = getuid() == 0 ? 65534 : getuid()
    nonisolated static let user = String(cString: getpwuid(uid).pointee.pw_name)

    nonisolated static let success: Int32 = 0
    nonisolated static let refused: Int32 = 7
    nonisolated static let unavailable: Int32 = 9
    nonisolated static let conversationFailed: Int32 = 19

    let bus: PrivateBus
    let daemon: TestDaemon
    let verifier: ChildProcess
    let sensor: ChildProcess
    /// Paths of the module and of its tests' client.
    let module: String
    private let client: String

    init(_ bus: PrivateBus, configuration: String = "") async throws {
        self.bus = bus
        (module, client) = try await Self.build()
        verifier = try await bus.startVerifier()
        daemon = try await TestDaemon(on: bus, configuration: configuration)
        sensor = try await daemon.startSensor(enrolling: nil)
        _ = try await daemon.sensor.addTemplate(uid: Self.uid, label: "right index")
        // A folder of its own, because pam_wrapper expects only service files.
        mkdir(bus.folder + "/services", 0o755)
        try stack(Self.dialog)
        try stack("both")
    }

    /// The service whose prompt runs in a child process without a terminal: polkit's helper.
    nonisolated static let dialog = "polkit-1"

    /// Builds the module as shipped, with the catalogues next to the tests.
    nonisolated static func build() async throws -> (module: String, client: String) {
        let build = project + "/.build"
        let words = ["--directory", project, "test-pam"]
        let made = try await Installation.run("/usr/bin/make", words)
        try expect(made.status == 0, "expected a module: \(made.output)")
        return (build + "/pam/pam_localauth.so", build + "/pam/client")
    }

    nonisolated static let project =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    /// The control field of a block in the shipped profile.
    ///
    /// pam-auth-update replaces `end` by the number of lines to skip, here two.
    nonisolated static func control(of block: String) throws -> String {
        let profile = try TemporaryFolder.read(project + "/pam/profile")
        let lines = String(decoding: profile, as: UTF8.self).split(separator: "\n")
        let place = lines.firstIndex { $0 == "\(block):" }
        let line = place.map { lines[$0 + 1] } ?? ""
        try expect(line.hasSuffix("pam_localauth.so"), "expected \(block) to have the module")
        return line.prefix { $0 != "]" }.replacing("=end", with: "=2") + "]"
    }

    /// Writes a service: the module, then the password's modules unless `takesPasscode` is false.
    func stack(
        _ name: String,
        _ options: String = "",
        takesPasscode: Bool = true,
        asksFirst: Bool = false,
        block: String = "Auth-Initial"
    ) throws {
        try Self.stack(
            name,
            in: bus.folder,
            module,
            "bus=\(bus.address) wait=10 \(options)",
            takesPasscode: takesPasscode,
            asksFirst: asksFirst,
            block: block
        )
    }

    nonisolated static func stack(
        _ name: String,
        in folder: String,
        _ module: String,
        _ options: String,
        takesPasscode: Bool = true,
        asksFirst: Bool = false,
        block: String = "Auth-Initial"
    ) throws {
        let script = "\(folder)/check-passcode"
        let passcode = """
            auth [success=1 default=ignore] pam_exec.so quiet expose_authtok \(script)
            auth requisite pam_deny.so
            auth required pam_permit.so

            """
        let control = takesPasscode ? try control(of: block) : "required"
        // Prompts for the password, and leaves the decision to later modules.
        let first = "auth optional pam_exec.so quiet expose_authtok /bin/true\n"
        try TemporaryFolder.write(
            "\(folder)/services/\(name)",
            """
            \(asksFirst ? first : "")auth \(control) \(module) \(options)
            \(takesPasscode ? passcode : "")
            """
            .utf8
        )
    }

    /// Starts a PAM client with a conversation.
    func start(
        _ conversation: String,
        service: String? = nil,
        user: String = PAMBench.user,
        launcher: [String] = [],
        environment: [String: String] = [:],
        terminal: Pty? = nil
    ) throws -> ChildProcess {
        let service = service ?? (terminal == nil ? Self.dialog : "both")
        return try ChildProcess(
            launcher + [client, bus.folder + "/services", service, user, conversation],
            environment: environment,
            terminal: terminal?.path
        )
    }

    func authenticate(
        _ conversation: String,
        service: String? = nil,
        user: String = PAMBench.user,
        launcher: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ChildProcess.Ended {
        let program = try start(
            conversation,
            service: service,
            user: user,
            launcher: launcher,
            environment: environment
        )
        return try await program.ended(within: .seconds(60))
    }

    /// Runs pamtester on a terminal, with this bench's services.
    func startTester(
        on terminal: Pty,
        service: String = "both",
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        var environment = environment
        environment["LD_PRELOAD"] = "libpam_wrapper.so"
        environment["PAM_WRAPPER"] = "1"
        environment["PAM_WRAPPER_SERVICE_DIR"] = bus.folder + "/services"
        return try ChildProcess(
            ["/usr/bin/pamtester", service, Self.user, "authenticate"],
            environment: environment,
            terminal: terminal.path
        )
    }

    /// Touches the sensor once the program prompts.
    func touch(_ matching: Bool, of program: ChildProcess) async throws {
        // Under valgrind, or on a busy machine, this takes long.
        try await eventually("a question", within: .seconds(60)) {
            program.output.contains("asked")
        }
        try await daemon.sensor.queue(outcomes: [matching ? "match" : "no-match"])
    }
}
