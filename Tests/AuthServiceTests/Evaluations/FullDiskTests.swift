import AuthEngine
import DBus
import Glibc
import LocalAuthBus
import TestSupport
import Testing

/// L17: a full disk refuses calls that must write, loses no data, and needs no restart afterwards.
@Suite(
    "The service on a full disk",
    .timeLimit(.minutes(10)),
    .enabled(if: SmallDisk.isPossible, "needs root and a mount namespace")
)
struct FullDiskTests {
    @Test("L17: on a full disk items and passwords are refused, and work again afterwards")
    func items() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let person = try await bench.person()
            var keychain = bench.keychain(person.connection)
            let first = try await keychain.add("first", "one")
            let guarded = try await keychain.add("guarded", "two", flags: .devicePasscode)
            let key = try await KeychainKey(keychain)
            try disk.fill()
            for _ in 0..<3 {
                for change in Self.changes {
                    do {
                        try await change(keychain, first)
                        Issue.record("a change was acknowledged on a full disk")
                    } catch let error as DBusError {
                        #expect(error.name == .keychainNotAvailable)
                        #expect(error.message.contains("is full"), "\(error.message)")
                    }
                }
                #expect(try await keychain.services() == ["first", "guarded"])
                #expect(try await keychain.read(first) == "one")
                // An attempt that can't be counted is not verified.
                await expectName(.keychainUserCanceled) { _ = try await keychain.read(guarded) }
                #expect(bench.verifier.verified.seen.isEmpty)
                #expect(try await !key.sign([1]).value().isEmpty)
            }
            try disk.free()
            #expect(try await keychain.read(guarded) == "two")
            try await keychain.proxy.update(
                id: first,
                attributes: ["svce": .string("renamed")],
                options: [:]
            )
            try await keychain.proxy.setSecret(id: first, secret: Array("three".utf8), options: [:])
            let second = try await keychain.add("second")
            #expect(try await keychain.proxy.delete(ids: [guarded]) == 1)
            try await bench.restartDaemon()
            keychain = bench.keychain(person.connection)
            #expect(try await keychain.services() == ["renamed", "second"])
            #expect(try await keychain.read(first) == "three")
            #expect(try await keychain.read(second) == "secret")
        }
    }

    private static let changes:
        [@BusActor @Sendable (KeychainClient, String) async throws -> Void] =
            [
                { keychain, _ in _ = try await keychain.add("second") },
                { keychain, id in
                    try await keychain.proxy.update(
                        id: id,
                        attributes: ["svce": .string("renamed")],
                        options: [:]
                    )
                },
                { keychain, id in
                    try await keychain.proxy.setSecret(
                        id: id,
                        secret: Array("other".utf8),
                        options: [:]
                    )
                },
                { keychain, id in _ = try await keychain.proxy.delete(ids: [id]) },
                { keychain, _ in _ = try await KeychainKey(keychain, tag: 2) },
            ]

    @Test("L17: a keychain that could not be created on a full disk is created later")
    func making() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let keychain = bench.keychain()
            try disk.fill()
            for _ in 0..<2 {
                await expectName(.keychainNotAvailable) { _ = try await keychain.add("a") }
            }
            try disk.free()
            let id = try await keychain.add("a")
            #expect(try await keychain.read(id) == "secret")
            let checks = try await bench.manager.diagnose()
            let check = try #require(checks.first { $0["name"] == .string("keychain") })
            #expect(check["state"] == .string("ok"))
        }
    }

    @Test("R67: an item of a former enrolment is hidden even if a full disk keeps it")
    func formerEnrolment() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let (person, sensor, _) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let current = try await keychain.add("current", flags: .biometryCurrentSet)
            let free = try await keychain.add("free")
            try disk.fill()
            _ = sensor.add(for: person.peer.uid, announcing: false)
            for _ in 0..<2 {
                await expectName(.keychainNotFound) { _ = try await keychain.read(current) }
                #expect(try await keychain.services() == ["free"])
                #expect(try await keychain.read(free) == "secret")
            }
            await expectName(.keychainNotAvailable) {
                _ = try await keychain.add("new", flags: .biometryCurrentSet)
            }
            try disk.free()
            _ = try await keychain.add("current", flags: .biometryCurrentSet)
            #expect(try await keychain.services() == ["current", "free"])
        }
    }

    @Test("R69: an item that needs a password is hidden without one, even on a full disk")
    func withoutPasscode() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let person = try await bench.person()
            let keychain = bench.keychain(person.connection)
            let bound = try await keychain.add("bound", accessible: "akpu")
            let free = try await keychain.add("free")
            try disk.fill()
            bench.verifier.isPasscodeSet = false
            for _ in 0..<2 {
                await expectName(.keychainNotFound) { _ = try await keychain.read(bound) }
                #expect(try await keychain.services() == ["free"])
                #expect(try await keychain.read(free) == "secret")
            }
            try disk.free()
            bench.verifier.isPasscodeSet = true
            #expect(try await keychain.services() == ["free"])
            await expectName(.keychainNotFound) { _ = try await keychain.read(bound) }
        }
    }

    @Test("L12, L17: an unwritten enrolment is announced only after it was written")
    func enrolments() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let (person, sensor, _) = try await bench.enrolled()
            let context = try await bench.context(on: person.connection)
            #expect(try await bench.canEvaluateCode(context) == 0)
            let before = try await bench.state(context)
            #expect(before.count == 32)
            try disk.fill()
            let template = sensor.add(for: person.peer.uid)
            for _ in 0..<2 {
                #expect(try await bench.canEvaluateCode(context) == -6)
                #expect(try await bench.state(context).isEmpty)
                #expect(try await context.evaluatedPolicyDomainState().isEmpty)
            }
            await expectName(.biometryNotAvailable) {
                _ = try await bench.begin(person.connection, 1, ["timeout": .uint64(60_000)])
                    .reply()
            }

            try disk.free()
            #expect(try await bench.canEvaluateCode(context) == 0)
            let after = try await bench.state(context)
            #expect(after.count == 32 && after != before)
            let call = try bench.begin(person.connection)
            try await sensor.operation().succeed(template)
            #expect(try await call.reply()["domain-state"] == .bytes(after))
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            #expect(try await bench.state(bench.context(on: person.connection)) == after)
        }
    }

    @Test(
        "L10, L17: on a full disk wrong passwords and RequirePasscode are refused"
    )
    func passcodes() async throws {
        try await ServiceBench.runOnSmallDisk { bench, disk in
            let (person, _, _) = try await bench.enrolled()
            person.passcode = "wrong"
            let manager = bench.manager(person.connection)
            _ = try await bench.canEvaluate(1, as: person.connection)
            try disk.fill()
            await expectName(.systemCancel) {
                _ = try await manager.evaluate(
                    policy: 2,
                    reason: "a",
                    options: ["sensors": .strings([])]
                )
            }
            let polkit = try StandInPolkit(on: bench.bus.connect())
            for uid in [person.peer.uid, person.peer.uid + 1] {
                await expectName(.failed) {
                    try await manager.requirePasscode(uid: uid, cause: "left")
                }
            }
            #expect(polkit.questions.seen.count == 1)
            await expectName(.systemCancel) { _ = try await bench.begin(person.connection).reply() }
            try disk.free()
            try await manager.requirePasscode(uid: person.peer.uid, cause: "left")
            try await bench.restartDaemon()
            try await bench.waitForDevice(is: "")
            #expect(try await bench.canEvaluate(1, as: person.connection).code == -8)
        }
    }
}
