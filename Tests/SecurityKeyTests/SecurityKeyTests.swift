import DBus
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing
import VirtualKey

@Suite(.serialized, .timeLimit(.minutes(10)))
struct SecurityKeyTests {
    init() { EventLoop.shared.startThread() }

    /// Touches the key as soon as it waits.
    @BusActor private func touch(
        _ key: VirtualKey,
        _ kind: Touch,
        _ what: String = "a key that waits"
    ) async throws {
        try await eventually(what) { key.touch(kind) }
    }

    private static var verifying: KeyBehaviour {
        var manners = KeyBehaviour()
        manners.verifiesUser = true
        return manners
    }

    @Test(
        "An answer that proves nothing is a miss",
        arguments: [
            Touch.forged, .replayed, .elsewhere, .counterBack, .untouched, .unverified, .strange,
            .unasked,
        ]
    )
    @BusActor func proof(_ kind: Touch) async throws {
        try await proof(kind, Self.verifying)
    }

    @Test("A key without a counter still has to sign each challenge")
    @BusActor func uncounted() async throws {
        var manners = Self.verifying
        manners.counts = false
        try await proof(.replayed, manners)
    }

    /// Expects a miss after a wrong answer, and a match after the right answer.
    @BusActor private func proof(_ kind: Touch, _ manners: KeyBehaviour) async throws {
        let ring = try KeyRing(manners)
        let key = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            let (number, call) = try await bench.verify()
            try await touch(key, kind)
            let miss = try await bench.event("no-match", of: number)
            try expect(miss.attempt == 1, "the first attempt, got \(miss)")
            try await touch(key, .right)
            let matched = try await call.reply()
            try expect(matched == id && bench.misses.count == 1, "\(id), got \(matched)")
        }
    }

    @Test("Without a touch the key times out and is asked again, which is no miss")
    @BusActor func noTouch() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            let (_, call) = try await bench.verify()
            let before = key.requests
            try await touch(key, .tooLate)
            try await eventually("another request") { key.requests > before }
            try await touch(key, .right)
            try expect(try await call.reply() == id && bench.misses.isEmpty, "\(bench.misses)")
        }
    }

    @Test("A key that is unplugged ends the operation, and matches when it is plugged in again")
    @BusActor func unplugged() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            let (_, call) = try await bench.verify()
            try await eventually("a key that waits") { key.waits }
            key.unplug()
            try await expectError(.sensorDisconnected, of: "Verify") {
                _ = try await call.reply()
            }
            try await eventually("absent") { try await !bench.sensor.present() }
            try expect(try await bench.sensor.health().state == "degraded", "degraded")
            try key.plug()
            try await eventually("present") { try await bench.sensor.present() }
            let (_, next) = try await bench.verify()
            try await touch(key, .right)
            try expect(try await next.reply() == id && bench.misses.isEmpty, "\(bench.misses)")
        }
    }

    @Test("Two keys of a user wait together: either matches, and the other is stopped")
    @BusActor func twoKeys() async throws {
        let ring = try KeyRing()
        let first = ring.key
        try await ring.check { bench in
            let one = try await bench.enroll("one")
            // Unplug the enrolled key, which would be reported as a duplicate at once.
            first.unplug()
            try await eventually("no key") { try await !bench.sensor.present() }
            let second = try ring.another()
            try await eventually("the second key") { try await bench.sensor.present() }
            let enrolment = try bench.sensor.enrollStream(
                operation: bench.nextOperation(),
                uid: SensorBench.user,
                label: "two",
                options: [:]
            )
            try await touch(second, .right, "the second key to make a credential")
            try await touch(second, .right, "the second key to prove it")
            let two = try await enrolment.reply()
            try first.plug()
            for (key, id) in [(second, two), (first, one), (second, two)] {
                let (_, call) = try await bench.verify()
                try await eventually("both to wait") { first.waits && second.waits }
                let cancels = first.cancels + second.cancels
                key.touch()
                try expect(try await call.reply() == id, id)
                try await eventually("the other to be told to stop") {
                    first.cancels + second.cancels == cancels + 1
                }
            }
            try expect(bench.misses.isEmpty, "no attempt, got \(bench.misses)")
        }
    }

    @Test("If one of two keys is unplugged, the other still matches")
    @BusActor func oneOfTwo() async throws {
        let ring = try KeyRing()
        let first = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            let second = try ring.another()
            try await eventually("present") { try await bench.sensor.present() }
            let (_, call) = try await bench.verify()
            second.unplug()
            try await touch(first, .right)
            try expect(try await call.reply() == id, id)
        }
    }

    @Test("A key without a known credential needs no touch, and the right key may follow")
    @BusActor func stranger() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            key.unplug()
            let stranger = try ring.another()
            try await eventually("a key") { try await bench.sensor.present() }
            let (number, call) = try await bench.verify()
            _ = try await bench.event("ready", of: number)
            try expect(!stranger.touch() && stranger.requests == 0, "\(stranger.requests)")
            try key.plug()
            try await touch(key, .right)
            let matched = try await call.reply()
            try expect(matched == id && bench.misses.isEmpty, "\(id), got \(bench.misses)")
        }
    }

    @Test("A key that requires a PIN is refused at enrolment, with a remedy")
    @BusActor func pin() async throws {
        var manners = KeyBehaviour()
        manners.wantsPIN = true
        try await KeyRing(manners)
            .check { bench in
                do throws(DBusError) {
                    _ = try await bench.sensor.enroll(
                        operation: bench.nextOperation(),
                        uid: SensorBench.user,
                        label: "one",
                        options: [:],
                        timeout: .seconds(60)
                    )
                } catch {
                    try expect(error.name == .sensorFailed, "Failed, got \(error)")
                    try expect(error.message.contains("PIN"), error.message)
                    return
                }
                throw TestFailure("expected a refusal")
            }
    }

    @Test("A key without room is reported as full")
    @BusActor func full() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let call = try bench.sensor.enrollStream(
                operation: bench.nextOperation(),
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            try await touch(key, .full)
            try await expectError(.sensorFull, of: "Enroll") { _ = try await call.reply() }
        }
    }

    @Test(
        "A key that has locked itself is a fault and no miss",
        arguments: [Touch.locked, .lockedPIN]
    )
    @BusActor func locked(_ kind: Touch) async throws {
        let ring = try KeyRing(Self.verifying)
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            // Allow no further attempts: a miss would end the operation with another error.
            bench.answer = { _ throws(DBusError) in 0 }
            let (_, call) = try await bench.verify()
            try await touch(key, kind)
            do throws(DBusError) {
                _ = try await call.reply()
            } catch {
                try expect(error.name == .sensorFailed, "Failed, got \(error)")
                try expect(error.message.contains("locked itself"), error.message)
                try expect(bench.misses.isEmpty, "no attempt, got \(bench.misses)")
                return
            }
            throw TestFailure("expected a refusal")
        }
    }

    @Test("A key can be enrolled only once")
    @BusActor func duplicate() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            let call = try bench.sensor.enrollStream(
                operation: bench.nextOperation(),
                uid: SensorBench.user,
                label: "again",
                options: [:]
            )
            try await expectError(.sensorDuplicate, of: "Enroll") { _ = try await call.reply() }
            try expect(try await bench.sensor.listTemplates(uid: SensorBench.user).count == 1, "1")
            try expect(key.requests == 2, "no further touch, got \(key.requests)")
        }
    }

    @Test(
        "An enrolment with an invalid proof stores no credential",
        arguments: [Touch.forged, .elsewhere, .untouched]
    )
    @BusActor func unprovenEnrolment(_ kind: Touch) async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let number = bench.nextOperation()
            let call = try bench.sensor.enrollStream(
                operation: number,
                uid: SensorBench.user,
                label: "one",
                options: [:]
            )
            try await touch(key, .right)
            _ = try await bench.event("stage", of: number)
            try await touch(key, kind)
            try await expectError(.sensorFailed, of: "Enroll") { _ = try await call.reply() }
            try expect(
                try await bench.sensor.listTemplates(uid: SensorBench.user).isEmpty,
                "nothing kept"
            )
        }
    }

    @Test("Cancel makes the key stop waiting")
    @BusActor func cancel() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            let (number, call) = try await bench.verify()
            try await eventually("a key that waits") { key.waits }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
            _ = try await ring.events.first("to be told to stop") { $0 == .canceled }
            try expect(!key.waits, "no wait")
        }
    }

    @Test("The key stops waiting when the daemon is gone, even if the signal is lost")
    @BusActor func goneUnheard() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            _ = try await bench.verify()
            try await eventually("a key that waits") { key.waits }
            try await bench.bus.lose(.nameOwnerChanged)
            bench.daemon.close()
            _ = try await ring.events.first("to be told to stop", within: .seconds(60)) {
                $0 == .canceled
            }
            try await eventually("no wait") { !key.waits }
        }
    }

    @Test("A failed write adds no credential and changes no label")
    @BusActor func disk() async throws {
        let faults = try Faults()
        try await KeyRing().run(.disk(faults), with: faults)
    }

    @Test("A hint asks for the touch at once and every ten seconds")
    @BusActor func reminders() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            bench.events.forget()
            let (number, call) = try await bench.verify()
            let hints = {
                bench.events.seen.count { event in
                    event.operation == number
                        && event.detail["hint"]?.asString == "confirm-presence"
                }
            }
            try await eventually("a hint") { hints() == 1 }
            // A key sends ten keepalives a second.
            key.remind(100)
            try await eventually("a reminder") { hints() == 2 }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
        }
    }

    @Test("A busy key is waited for, with an event")
    @BusActor func busy() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            key.changeBehaviour { $0.isBusy = true }
            let number = bench.nextOperation()
            let call = try bench.sensor.verifyStream(
                operation: number,
                uid: SensorBench.user,
                options: [:]
            )
            _ = try await bench.event("busy", of: number)
            key.changeBehaviour { $0.isBusy = false }
            _ = try await bench.event("ready", of: number)
            // The key becomes busy again after its first request.
            bench.events.forget()
            key.changeBehaviour { $0.isBusy = true }
            try await touch(key, .tooLate)
            _ = try await bench.event("busy", of: number)
            key.changeBehaviour { $0.isBusy = false }
            _ = try await bench.event("ready", of: number)
            try await touch(key, .right)
            try expect(try await call.reply() == id && bench.misses.isEmpty, id)
        }
    }

    @Test("A key that stops answering is a fault, with a remedy")
    @BusActor func mute() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            key.changeBehaviour { $0.isMute = true }
            do throws(DBusError) {
                _ = try await bench.sensor.verify(
                    operation: bench.nextOperation(),
                    uid: SensorBench.user,
                    options: [:],
                    timeout: .seconds(60)
                )
            } catch {
                try expect(error.name == .sensorFailed, "Failed, got \(error)")
                try expect(error.message.contains("unplug it"), error.message)
                try expect(key.ignored > 1, "another try, got \(key.ignored)")
                return
            }
            throw TestFailure("expected a refusal")
        }
    }

    @Test("An unreadable credential is named in a translatable sentence")
    @BusActor func unreadable() async throws {
        let ring = try KeyRing()
        try await ring.check { bench in
            let id = try await bench.enroll()
            let name = "\(ring.folder.path)/state/\(SensorBench.user)-\(id).credential"
            try expect(chmod(name, 0o644) == 0, name)
            do throws(DBusError) {
                _ = try await bench.sensor.listTemplates(uid: SensorBench.user)
            } catch {
                try expect(error.name == .sensorFailed, "Failed, got \(error)")
                let sentence = "A credential can't be read or kept in \(name): "
                try expect(error.message.hasPrefix(sentence), error.message)
                return
            }
            throw TestFailure("expected a refusal")
        }
    }

    @Test("A credential that another program adds, damages or removes is noticed")
    @BusActor func changedBehind() async throws {
        let ring = try KeyRing()
        try await ring.check { bench in
            let id = try await bench.enroll()
            let other = SensorBench.user + 1
            let name = "state/\(other)-\(id).credential"
            let content = try ring.folder.read("state/\(SensorBench.user)-\(id).credential")
            try ring.folder.write(name, content, mode: 0o600)
            _ = try await bench.changes.first("TemplatesChanged") { $0 == other }
            try ring.folder.write(name, content.dropLast(), mode: 0o600)
            try await eventually("a health that names it") {
                let health = try await bench.sensor.health()
                return health.state == "degraded"
                    && health.message.contains("\(ring.folder.path)/\(name)")
            }
            bench.changes.forget()
            try expect(unlink("\(ring.folder.path)/\(name)") == 0, name)
            _ = try await bench.changes.first("TemplatesChanged") { $0 == other }
            try await eventually("a health that is well again") {
                try await bench.sensor.health().state == "ok"
            }
        }
    }

    @Test("A simulated key is described as proving nothing, and only for convenience")
    @BusActor func properties() async throws {
        try await KeyRing()
            .check { bench in
                try expect(try await bench.sensor.biometryType() == 0, "a companion")
                try expect(try await bench.sensor.strength() == "convenience", "convenience")
                let description = try await bench.sensor.description()
                try expect(description.contains("proves no presence"), description)
            }
    }
}
