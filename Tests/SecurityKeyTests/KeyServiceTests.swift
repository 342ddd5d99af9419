import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing
import VirtualKey

/// Tests the whole path: from a touch of a security key to the daemon's answer.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: getuid() == 0))
struct KeyServiceTests {
    init() { EventLoop.shared.startThread() }

    @BusActor private func touch(_ key: VirtualKey, _ kind: Touch = .right) async throws {
        try await eventually("a key that waits", within: .seconds(60)) { key.touch(kind) }
    }

    private static let reason = "open the vault"

    @Test("L13: policies 3 and 4 accept an enrolled security key, biometric policies do not")
    @BusActor func policies() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await PrivateBus.run { bus in
            try await bus.startVerifier()
            let daemon = try await TestDaemon(on: bus)
            let agent = try ScriptedAgent(on: bus)
            try bus.start(ring.program)
            try await bus.waitForOwner(of: "org.localauth.Sensor1.Fido2")
            let (device, manager) = (daemon.device("Fido2"), daemon.manager(agent.connection))
            try await eventually("a usable sensor") { (try? await device.available()) == true }
            try await agent.register()
            #expect(try await manager.canEvaluate(policy: 3).code == -12)

            let enrolment = try device.enrollStream(label: "blue key", options: [:])
            for _ in 0..<2 { try await touch(key) }
            let id = try await enrolment.reply()
            #expect(try await device.listTemplates(options: [:]).map(\.id) == [id])
            #expect(try await manager.canEvaluate(policy: 1).code == -6)
            for policy in [3, 4] as [UInt32] {
                #expect(try await manager.canEvaluate(policy: policy).available)
                let call = try manager.evaluateStream(
                    policy: policy,
                    reason: Self.reason,
                    options: [:]
                )
                // A forged answer from a device that pretends to be the key.
                try await touch(key, .forged)
                try await touch(key)
                let result = try await call.reply()
                #expect(result["mechanism"] == .string("companion"))
                #expect(result["sensor"] == .string("Fido2"))
            }
            #expect(agent.updates.seen.contains { $0.kind == "no-match" })
            #expect(agent.updates.seen.contains { $0.kind == "hint" })

            key.unplug()
            try await eventually("no key") { try await !device.available() }
            #expect(try await manager.canEvaluate(policy: 3).code == -11)
        }
    }
}
