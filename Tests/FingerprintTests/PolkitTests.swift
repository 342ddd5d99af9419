import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Requires root, because polkitd changes its user and its rules are mounted in a private
/// namespace.
private let canRunPolkit = getuid() == 0 && access("/usr/lib/polkit-1/polkitd", X_OK) == 0

@Suite(.timeLimit(.minutes(10)), .serialized, .enabled(if: canRunPolkit))
struct PolkitTests {
    static let root = "\(#filePath)".split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
    static let rules = root + "/dbus/polkit/50-localauth-fingerprint.rules"
    /// Accounts of every Debian system: the service's user and another user.
    static let (localauth, stranger): (UInt32, UInt32) = (5, 6)

    init() { EventLoop.shared.startThread() }

    @Test("The service's user may verify, enrol and delete for every user, other users may not")
    @BusActor func actions() async throws {
        try await Self.onRig { rig in
            let service = try Self.connection(rig, as: Self.localauth)
            let refused: DBusError.Name = "net.reactivated.Fprint.Error.PermissionDenied"
            try await rig.device("ListEnrolledFingers", "alice", by: rig.client)
            try await rig.device("Claim", "alice", by: service)
            try await rig.device("VerifyStart", "any", by: service)
            try await rig.device("VerifyStop", by: service)
            try await rig.device("EnrollStart", "left-thumb", by: service)
            try await rig.device("EnrollStop", by: service)
            try await rig.device("DeleteEnrolledFinger", "right-index-finger", by: service)
            try await rig.device("Release", by: service)
            let stranger = try Self.connection(rig, as: Self.stranger)
            for (method, argument) in [
                ("Claim", "alice"), ("Claim", ""), ("ListEnrolledFingers", "alice"),
            ] {
                try await expectError(refused, of: method) {
                    try await rig.device(method, argument, by: stranger)
                }
            }
        }
    }

    @Test("The sensor verifies and enrols as the service's user")
    @BusActor func sensor() async throws {
        try await Self.onRig { rig in
            let reader = try await Self.reader(rig)
            // This user cannot read the print, so the id is the finger's name.
            #expect(try await reader.templates().map(\.id) == ["right-index-finger"])
            let (_, call) = try await reader.bench.verify()
            try await rig.touch(1, again: true)
            #expect(try await call.reply() == "right-index-finger")
            let id = try await reader.enroll(2, label: "left thumb")
            #expect(id.hasPrefix("left-thumb"))
            await reader.bench.end()
        }
    }

    @Test("The rule allows only use of the reader, and only to the sensor's unit where known")
    @BusActor func narrow() async throws {
        let verify = "net.reactivated.fprint.device.verify"
        try await Self.onRig { rig in
            let mayRead = try await Self.mayDo(verify, on: rig)
            let mayRunPrograms = try await Self.mayDo("org.freedesktop.policykit.exec", on: rig)
            #expect(mayRead && !mayRunPrograms)
        }
        let shipped = String(decoding: try TemporaryFolder.read(Self.rules), as: UTF8.self)
        for (unit, isAllowed) in [
            ("localauth-sensor-fingerprint.service", true), ("another.service", false),
        ] {
            // Simulate a later polkit that reports the unit of a process, which Debian 12's does
            // not.
            let told = """
                polkit.addRule = (function (add) {
                    return function (rule) {
                        add.call(polkit, function (action, subject) {
                            return rule(action, { user: subject.user, system_unit: "\(unit)" });
                        });
                    };
                })(polkit.addRule);

                """
            let folder = try TemporaryFolder()
            let rules = folder.path + "/50-localauth-fingerprint.rules"
            try TemporaryFolder.write(rules, (told + shipped).utf8)
            try await Self.onRig(rules: rules) { rig in
                let mayRead = try await Self.mayDo(verify, on: rig)
                #expect(mayRead == isAllowed, "\(unit)")
            }
        }
    }

    /// Returns whether polkit allows the service's user an action without asking a person.
    @BusActor private static func mayDo(
        _ action: String,
        on rig: FingerprintRig
    ) async throws -> Bool {
        let check = "exec pkcheck --action-id \(action) --process $$"
        let words = ["/usr/bin/setpriv", "--reuid=\(localauth)", "--clear-groups", "--"]
        let ended = try await rig.run(rig.words(words + ["/bin/sh", "-c", check]))
            .ended(within: .seconds(120))
        // Exit statuses 1 and 2 mean no, or that a person would have to be asked.
        try expect([0, 1, 2].contains(ended.status), "an answer: \(ended)")
        return ended.status == 0
    }

    @Test("Without its rule the sensor is denied and names the rule")
    @BusActor func denied() async throws {
        let folder = try TemporaryFolder()
        let rules = folder.path + "/50-localauth-fingerprint.rules"
        let text = """
            polkit.addRule(function (action, subject) {
                if (subject.user == "localauth-fingerprint"
                    && action.id != "net.reactivated.fprint.device.enroll") {
                    return polkit.Result.YES;
                }
            });
            """
        try TemporaryFolder.write(rules, text.utf8)
        try await Self.onRig(rules: rules) { rig in
            let reader = try await Self.reader(rig)
            let call = try reader.sensor.enrollStream(
                operation: reader.bench.nextOperation(),
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            let (error, _) = try await reader.failure(of: call)
            #expect(error.name == .sensorDenied)
            #expect(error.message.contains("50-localauth-fingerprint.rules"))
            await reader.bench.end()
        }
    }

    /// Runs the sensor program as the service's user.
    @BusActor private static func reader(_ rig: FingerprintRig) async throws -> ReaderBench {
        var fixture = try rig.fixture()
        fixture.program =
            ["/usr/bin/setpriv", "--reuid=\(Self.localauth)", "--clear-groups", "--"]
            + fixture.program
        chmod(rig.bus.folder, 0o755)
        chmod(rig.folder, 0o755)
        // The owner that systemd gives to the state directory.
        chown(rig.folder + "/labels", Self.localauth, getgid())
        return ReaderBench(rig: rig, bench: try await SensorBench(fixture))
    }

    /// Runs `body` on a rig with the real polkitd, where root has enrolled a finger of alice.
    @BusActor private static func onRig(
        rules: String = Self.rules,
        _ body: @BusActor (FingerprintRig) async throws -> Void
    ) async throws {
        let rig = try await FingerprintRig(polkit: false)
        do {
            try await rig.startPolkit(rules: rules, localauth: localauth)
            try await rig.enroll(1, as: "right-index-finger", of: "alice")
            try await body(rig)
        } catch {
            await rig.end()
            throw error
        }
        await rig.end()
    }

    /// Makes a connection of another user through a bridge process.
    @BusActor private static func connection(
        _ rig: FingerprintRig,
        as uid: UInt32
    ) throws -> Connection {
        try Connection(
            .address(
                "unixexec:path=/usr/bin/setpriv,argv0=setpriv,argv1=--reuid=\(uid),"
                    + "argv2=--clear-groups,argv3=/usr/bin/systemd-stdio-bridge,"
                    + "argv4=--bus-path=\(rig.address)"
            )
        )
    }
}
