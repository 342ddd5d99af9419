import ClientTestSupport
import DBus
import LocalAuthBus
import LocalAuthClient
import TestSupport
import Testing

/// Tests the project's own API, for code that doesn't come from Apple's systems.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct AuthenticationSessionTests {
    // Test functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    @Test("A success contains mechanism, biometry type and strength")
    func success() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("match")
            let session = AuthenticationSession()
            try await session.check(.biometrics)
            let success = try await session.authenticate(.biometrics, reason: "open the diary")
            #expect(success.mechanism == .biometry)
            #expect(success.biometryType == .fingerprint)
            #expect(success.strength == .strong)
            #expect(success.sensor == "Simulated")
            #expect(success.domainState?.count == 32)
            let again = try await session.authenticate(.biometrics, reason: "open the diary")
            #expect(again.mechanism == .context)
        }
    }

    @Test("Events arrive in order, and end before the verdict")
    func events() async throws {
        try await ClientDesk.run { desk in
            try await desk.queue("hint:center", "no-match", "match")
            let evaluation = AuthenticationSession()
                .evaluation(of: .biometrics, reason: "open the diary")
            var seen: [AuthenticationEvent] = []
            for await event in evaluation.events { seen.append(event) }
            _ = try await evaluation.value
            #expect(seen.contains(.promptShown))
            #expect(seen.contains(.sensorReady(sensor: "Simulated", .fingerprint)))
            let news = seen.filter {
                [.hint("center"), .noMatch(attemptsLeft: 2), .fallbackAvailable].contains($0)
            }
            #expect(
                news == [.hint("center"), .noMatch(attemptsLeft: 2), .fallbackAvailable]
            )
        }
    }

    @Test("L21: After LimitsExceeded a read-only call is retried once; other errors end it")
    @BusActor
    func noRoom() async throws {
        for (name, refusals, times) in [
            (DBusError.Name.limitsExceeded, 0, 1), (.limitsExceeded, 1, 2), (.limitsExceeded, 9, 2),
            (.noReply, 1, 1), (.accessDenied, 1, 1),
        ] {
            let asked = EventRecorder<Bool>()
            let answer = try? await RemoteService.retryingReadOnly { () throws(DBusError) in
                asked.record(true)
                guard asked.seen.count > refusals else { throw DBusError(name, "Not now.") }
                return "answer"
            }
            #expect(asked.seen.count == times, "\(name) \(refusals)")
            #expect((answer != nil) == (refusals < times), "\(name) \(refusals)")
        }
    }

    @Test("L21: Diagnose is retried once after LimitsExceeded")
    func diagnosis() async throws {
        try await PrivateBus.run { bus in
            let stand = try StandInService(bus)
            let service = RemoteService(try bus.connect(), owner: stand.connection.uniqueName)
            for (refusals, isAnswered) in [(1, true), (2, false)] {
                stand.refusals = refusals
                let answer = try? await service.diagnose()
                #expect((answer != nil) == isAnswered)
            }
        }
    }

    @Test("L21: A read-only call goes to the successor of a service that exited")
    func successor() async throws {
        try await PrivateBus.run { bus in
            let first = try StandInService(bus)
            let service = RemoteService(try bus.connect(), owner: first.connection.uniqueName)
            #expect(try await service.diagnose().isEmpty)
            first.leave()
            try await eventually("the name to be free") {
                try await service.connection.nameOwner(TestDaemon.name) == nil
            }
            await #expect(throws: DBusError.self) { _ = try await service.diagnose() }
            let second = try StandInService(bus)
            second.checks = [["name": .string("next")]]
            #expect(try await service.diagnose().count == 1)
        }
    }

    @Test("An error has a code and a sentence")
    func error() async throws {
        try await ClientDesk.run { desk in
            await desk.agent.will(.cancel)
            do throws(AuthenticationError) {
                _ = try await AuthenticationSession()
                    .authenticate(.biometricsOrPasscode, reason: "open the diary")
                Issue.record("it was granted")
            } catch {
                #expect(error.code == .userCancel)
                #expect(!error.message.isEmpty)
            }
        }
    }

    @Test("Canceling the task ends the evaluation and its prompt")
    func cancellation() async throws {
        try await ClientDesk.run { desk in
            let session = AuthenticationSession()
            let task = Task {
                do throws(AuthenticationError) {
                    _ = try await session.authenticate(.biometrics, reason: "open the diary")
                    return AuthenticationError.Code(rawValue: 0)
                } catch {
                    return error.code
                }
            }
            _ = try await desk.agent.prompt()
            task.cancel()
            #expect(await task.value == .appCancel)
            _ = try await desk.agent.ends.first("the prompt's end") { _ in true }
        }
    }

    @Test("Invalid options fail with a sentence")
    func options() async throws {
        try await ClientDesk.run { _ in
            var options = AuthenticationOptions()
            options.timeout = .seconds(601)
            await #expect(throws: AuthenticationError.self) {
                try await AuthenticationSession()
                    .authenticate(.biometrics, reason: "open the diary", options: options)
            }
        }
    }

    @Test("A timeout ends the evaluation with systemCancel")
    func deadline() async throws {
        try await ClientDesk.run { _ in
            var options = AuthenticationOptions()
            options.timeout = .milliseconds(100)
            do throws(AuthenticationError) {
                _ = try await AuthenticationSession()
                    .authenticate(.biometrics, reason: "open the diary", options: options)
                Issue.record("it was granted")
            } catch {
                #expect(error.code == .systemCancel)
            }
        }
    }
}
