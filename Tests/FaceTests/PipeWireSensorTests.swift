import DBus
import FaceSensor
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

/// Tests the face sensor as a real process, with cameras of a real PipeWire daemon.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: Studio.isReady, Studio.reason),
    .enabled(if: PipeWireRig.isReady, PipeWireRig.reason)
)
struct PipeWireSensorTests {
    init() { EventLoop.shared.startThread() }

    /// Long enough to load everything on a busy machine.
    private static let limit = Duration.seconds(60)

    private func check(
        _ rig: PipeWireRig,
        _ body: @escaping @BusActor @Sendable (SensorBench) async throws -> Void
    ) async throws {
        let fixture = SensorFixture(
            program: Stage.program(rig.folder, camera: rig.name),
            name: "Face",
            patience: .seconds(60),
            promptness: .seconds(20),
            present: { _, _ in }
        )
        try await SensorCheck("pipewire", body).run(fixture)
    }

    @Test(
        "Only the person enrolled through PipeWire matches",
        arguments: ["yuyv", "bgrx", "mjpg"]
    )
    func matches(_ format: String) async throws {
        let rig = try await PipeWireRig()
        var camera = try rig.camera(format, clip: "\(Studio.clips)/enroll.mjpeg")
        try await check(rig) { bench in _ = try await bench.enroll("me") }
        await camera.end()
        camera = try rig.camera(format, clip: "\(Studio.clips)/match.mjpeg")
        try await check(rig) { bench in
            let enrolled = try await bench.sensor.listTemplates(uid: SensorBench.user)
            let (_, call) = try await bench.verify()
            let id = try await call.reply()
            try expect(enrolled.map(\.id) == [id], "\(enrolled), got \(id)")
        }
        await camera.end()
        camera = try rig.camera(format, clip: "\(Studio.clips)/other.mjpeg")
        try await check(rig) { bench in
            let (number, call) = try await bench.verify()
            _ = try await bench.events.first("a failed attempt", within: Self.limit) { _ in
                !bench.misses.isEmpty
            }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
        }
    }

    @Test("The sensor is absent without its camera or PipeWire, names the cause, and recovers")
    func comesAndGoes() async throws {
        let rig = try await PipeWireRig()
        let clip = "\(Studio.clips)/enroll.mjpeg"
        let first = try rig.camera(clip: clip)
        let steps = Steps(rig)
        try await check(rig) { bench in
            func becomes(_ isPresent: Bool, _ words: String) async throws {
                try await eventually("\(isPresent), \(words)", within: Self.limit) {
                    let message = try await bench.sensor.health().message
                    let reason = try await bench.sensor.unavailability()
                    return try await bench.sensor.present() == isPresent
                        && reason == (isPresent ? "" : "no-hardware") && message.contains(words)
                }
            }
            try await becomes(true, "")
            _ = try await bench.enroll("me")
            await first.end()
            try await becomes(false, "PipeWire has no camera that is called CAM.")
            try expect(
                try await bench.sensor.health().state == "failed",
                "what was named is missing"
            )
            let second = try steps.camera(clip)
            try await becomes(true, "")
            let (_, call) = try await bench.verify()
            _ = try await call.reply()
            await steps.end()
            try await becomes(false, "PipeWire doesn't run at")
            await second.end()
            try await steps.start()
            try await becomes(false, "PipeWire has no camera that is called CAM.")
            let third = try steps.camera(clip)
            try await becomes(true, "")
            let (_, again) = try await bench.verify()
            _ = try await again.reply()
            await third.end()
        }
    }

    @Test("A camera that disappears during an operation ends it as disconnected")
    func goesMeanwhile() async throws {
        let rig = try await PipeWireRig()
        let enrolled = try rig.camera(clip: "\(Studio.clips)/enroll.mjpeg")
        try await check(rig) { bench in _ = try await bench.enroll("me") }
        await enrolled.end()
        let camera = try rig.camera(clip: "\(Studio.clips)/empty.mjpeg")
        try await check(rig) { bench in
            let (_, call) = try await bench.verify()
            await camera.end()
            try await expectError(.sensorDisconnected, of: "Verify") { _ = try await call.reply() }
        }
    }

    @Test("The sensor recovers when a crowd of nodes or a person's program has gone")
    func again() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera(clip: "\(Studio.clips)/empty.mjpeg")
        let (crowd, socket) = (try rig.crowd(1100), rig.socket)
        try await check(rig) { bench in
            var last = ""
            func becomes(_ reason: String, _ words: String) async throws {
                try await eventually("\(reason), \(words), not \(last)", within: Self.limit) {
                    let message = try await bench.sensor.health().message
                    let now = try await bench.sensor.unavailability()
                    last = "\(now): \(message)"
                    return now == reason && message.contains(words)
                }
            }
            try await becomes("failed", "PipeWire has more objects than can be judged.")
            await crowd.end()
            try await becomes("", "")
            chmod(socket, 0o777)
            let visitor = try ChildProcess([
                "/usr/bin/setpriv", "--reuid=\(PipeWireRig.nobody)",
                "--regid=\(PipeWireRig.nobody)", "--clear-groups", "/usr/bin/pw-mon", "-r",
                socket,
            ])
            // The program stays connected after the chmod. A socket open to everyone would be
            // refused by itself.
            try await eventually("the visitor") { !visitor.output.isEmpty }
            chmod(socket, 0o700)
            try await becomes("untrusted", "A program of the user 65534")
            await visitor.end()
            try await becomes("", "")
            await camera.end()
        }
    }

    @Test("A person's PipeWire makes the sensor untrusted, with the reason")
    func person() async throws {
        let rig = try await PipeWireRig(as: PipeWireRig.nobody)
        try await check(rig) { bench in
            let health = try await bench.sensor.health()
            try expect(health.state == "failed", "\(health)")
            try expect(health.message.contains("belongs to the user 65534"), "\(health)")
            try expect(try await bench.sensor.unavailability() == "untrusted", "untrusted")
        }
    }

    @Test(
        "A PipeWire camera needs an absolute path and a name, and cannot be infrared",
        arguments: [["--camera", "pipewire:x#y"], ["--infrared", "--camera", "pipewire:/x#y"]]
    )
    func options(_ options: [String]) async throws {
        try await PrivateBus.run { bus in
            let program = try bus.start(["localauth-sensor-face"] + options)
            #expect(try await program.exitStatus() == 64)
            let said = program.errors
            #expect(
                said.contains("pipewire:SOCKET#NODE") || said.contains("PipeWire's word"),
                "\(said)"
            )
        }
    }
}

// SAFETY: used only on the loop's thread.
/// Changes that a check makes to the rig.
private final class Steps: @unchecked Sendable {
    private let rig: PipeWireRig

    init(_ rig: PipeWireRig) { self.rig = rig }

    func camera(_ clip: String) throws -> ChildProcess { try rig.camera(clip: clip) }
    func end() async { await rig.daemon?.end() }
    func start() async throws { try await rig.start() }
}
