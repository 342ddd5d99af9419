import DBus
import Glibc
import LocalAuthBus
import SensorContract
import TestSupport
import Testing
import VirtualKey

/// What a security key may answer, and what the sensor makes of it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SecurityKeyTests {
    init() { EventLoop.shared.startThread() }

    /// Touches the key once it waits.
    @BusActor private func touch(
        _ key: VirtualKey,
        _ kind: Touch,
        _ what: String = "a key that waits"
    ) async throws {
        try await eventually(what) { key.touch(kind) }
    }

    private static var verifying: Manners {
        var manners = Manners()
        manners.verifiesUser = true
        return manners
    }

    @Test(
        "An answer that proves nothing is a failed attempt, whatever is wrong with it",
        arguments: [
            Touch.forged, .replayed, .elsewhere, .counterBack, .untouched, .unverified, .strange,
            .unasked,
        ]
    )
    @BusActor func proof(_ kind: Touch) async throws {
        try await proof(kind, Self.verifying)
    }

    @Test("A key that doesn't count proves itself by each challenge anew")
    @BusActor func uncounted() async throws {
        var manners = Self.verifying
        manners.counts = false
        try await proof(.replayed, manners)
    }

    /// After an answer that fails, the right one matches.
    @BusActor private func proof(_ kind: Touch, _ manners: Manners) async throws {
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

    @Test("Nobody touches it: the key gives up and is asked again, and that is no attempt")
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

    @Test("A key that is pulled out while it waits ends what runs; plugged in again it matches")
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

    @Test("Two keys of a user are asked at once: either matches as itself, and the other stops")
    @BusActor func twoKeys() async throws {
        let ring = try KeyRing()
        let first = ring.key
        try await ring.check { bench in
            let one = try await bench.enroll("one")
            // The one that is enrolled would be a duplicate at once.
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

    @Test("One of two keys is pulled out: the other is still asked")
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

    @Test("A key that nobody enrolled is not asked for a touch; the right one may follow")
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

    @Test("A key that wants its PIN is refused at its enrolment, with what can be done")
    @BusActor func pin() async throws {
        var manners = Manners()
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

    @Test("A key that has no room is full")
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
        "A key that has locked itself is a fault, and no failed attempt",
        arguments: [Touch.locked, .lockedPIN]
    )
    @BusActor func locked(_ kind: Touch) async throws {
        let ring = try KeyRing(Self.verifying)
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            // An attempt would be the last one, and its end another error.
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

    @Test("A key is enrolled once: again it is a duplicate")
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
        "An enrolment that the key can't prove keeps nothing",
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

    @Test("Cancel tells the key to stop, and it blinks no more")
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

    @Test("A daemon that is gone unheard leaves no key blinking, though nobody calls any more")
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

    @Test("What the disk doesn't take is not there: no new credential, and no new label")
    @BusActor func disk() async throws {
        let faults = try Faults()
        try await KeyRing().run(.disk(faults), with: faults)
    }

    @Test("A person is reminded of the touch: at once, and every ten seconds that the key waits")
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
            // It says so ten times a second.
            key.remind(100)
            try await eventually("a reminder") { hints() == 2 }
            try await bench.sensor.cancel(operation: number)
            try await expectError(.sensorCanceled, of: "Verify") { _ = try await call.reply() }
        }
    }

    @Test("A key that another program has is waited for, and that is told")
    @BusActor func busy() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            let id = try await bench.enroll()
            key.behave { $0.isBusy = true }
            let number = bench.nextOperation()
            let call = try bench.sensor.verifyStream(
                operation: number,
                uid: SensorBench.user,
                options: [:]
            )
            _ = try await bench.event("busy", of: number)
            key.behave { $0.isBusy = false }
            _ = try await bench.event("ready", of: number)
            // The same again, of a key that has been asked already.
            bench.events.forget()
            key.behave { $0.isBusy = true }
            try await touch(key, .tooLate)
            _ = try await bench.event("busy", of: number)
            key.behave { $0.isBusy = false }
            _ = try await bench.event("ready", of: number)
            try await touch(key, .right)
            try expect(try await call.reply() == id && bench.misses.isEmpty, id)
        }
    }

    @Test("A key that says nothing any more is given up, with what can be done")
    @BusActor func mute() async throws {
        let ring = try KeyRing()
        let key = ring.key
        try await ring.check { bench in
            _ = try await bench.enroll()
            key.behave { $0.isMute = true }
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

    @Test("Which credential can't be used is told in a sentence that catalogues have")
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

    @Test("A credential that another hand adds, damages or removes is noticed")
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

    @Test("What programs play is said to prove nothing, and no more is claimed for it")
    @BusActor func properties() async throws {
        try await KeyRing()
            .check { bench in
                try expect(try await bench.sensor.biometryType() == 0, "a companion")
                try expect(try await bench.sensor.strength() == "convenience", "convenience")
                let description = try await bench.sensor.description()
                try expect(description.contains("proves nothing"), description)
            }
    }
}
