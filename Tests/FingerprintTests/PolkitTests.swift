import DBus
import FingerprintRig
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// polkitd becomes another user, and its rules are put in a mount of its own: both need root.
private let canRunPolkit = getuid() == 0 && access("/usr/lib/polkit-1/polkitd", X_OK) == 0

/// The rules file, read by the real polkitd.
@Suite(.timeLimit(.minutes(2)), .serialized, .enabled(if: canRunPolkit))
struct PolkitTests {
    static let root = "\(#filePath)".split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
    static let rules = root + "/dbus/polkit/50-localauth-fingerprint.rules"
    /// Accounts of every Debian system: one plays the service's user, the other one a stranger.
    static let (localauth, stranger): (UInt32, UInt32) = (5, 6)

    init() { EventLoop.shared.startThread() }

    @Test("The service's user may verify anybody and nothing else; others may nothing")
    @BusActor func actions() async throws {
        try await Self.onRig { rig in
            let service = try Self.connection(rig, as: Self.localauth)
            let refused: DBusError.Name = "net.reactivated.Fprint.Error.PermissionDenied"
            try await rig.device("ListEnrolledFingers", "alice", by: rig.client)
            try await rig.device("Claim", "alice", by: service)
            try await rig.device("VerifyStart", "any", by: service)
            try await rig.device("VerifyStop", by: service)
            for (method, argument) in [
                ("EnrollStart", "left-thumb"), ("DeleteEnrolledFinger", "right-index-finger"),
                ("DeleteEnrolledFingers2", nil), ("DeleteEnrolledFingers", "alice"),
            ] {
                try await expectError(refused, of: method) {
                    try await rig.device(method, argument, by: service)
                }
            }
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

    @Test("The sensor as the service's user verifies; to enrol it says what is missing")
    @BusActor func sensor() async throws {
        try await Self.onRig { rig in
            var fixture = try rig.fixture()
            fixture.program =
                [
                    "/usr/bin/setpriv", "--reuid=\(Self.localauth)", "--clear-groups", "--",
                ] + fixture.program
            chmod(rig.bus.folder, 0o755)
            chmod(rig.folder, 0o755)
            let bench = try await SensorBench(fixture)
            let listed = try await bench.sensor.listTemplates(uid: SensorBench.user)
            // The print can't be seen by this user: the id is the finger's name.
            #expect(listed.map(\.id) == ["right-index-finger"])
            let (_, call) = try await bench.verify()
            try await rig.touch(1, again: true)
            #expect(try await call.reply() == "right-index-finger")
            do throws(DBusError) {
                _ = try await bench.sensor.enroll(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    label: "one",
                    options: [:],
                    timeout: .seconds(5)
                )
                Issue.record("it was enrolled")
            } catch {
                #expect(error.name == .sensorFailed)
                #expect(error.message.contains("polkit"))
            }
            await bench.end()
        }
    }

    /// A rig with the real polkitd, where root has enrolled a finger of alice.
    @BusActor private static func onRig(
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

    /// A connection that the bus takes for another user's, by way of a bridge.
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
