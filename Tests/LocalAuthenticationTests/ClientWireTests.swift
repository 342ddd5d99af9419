import DBus
import LocalAuthBus
import TestSupport
import Testing

@testable import LocalAuthClient
@testable import LocalAuthentication

/// Tests the translation between the library and the wire.
@Suite(.timeLimit(.minutes(10)))
struct ClientWireTests {
    // Some test functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// Apple's numbers.
    private static let codes = [
        "AuthenticationFailed": -1, "UserCancel": -2, "UserFallback": -3, "SystemCancel": -4,
        "PasscodeNotSet": -5, "BiometryNotAvailable": -6, "BiometryNotEnrolled": -7,
        "BiometryLockout": -8, "AppCancel": -9, "InvalidContext": -10,
        "CompanionNotAvailable": -11, "BiometryNotPaired": -12, "BiometryDisconnected": -13,
        "InvalidDimensions": -14, "NotInteractive": -1004,
    ]

    @Test("Each error of the service has Apple's code and the service's sentence")
    func codes() {
        for (word, code) in Self.codes {
            let name = DBusError.Name(rawValue: "org.localauth.Error." + word)
            let error = AuthenticationError(DBusError(name, "It is so."))
            #expect(error.code.rawValue == code, "\(word)")
            #expect(error.message == "It is so.", "\(word)")
        }
        let refusals = RefusalCode.allCases.filter { $0 != .limitsExceeded }
        #expect(Set(refusals.map { Int($0.rawValue) }) == Set(Self.codes.values))
    }

    @Test("Bus errors become “ended”, “not running” or “refused”")
    func others() {
        for name in [DBusError.Name.noReply, .disconnected] {
            let ended = AuthenticationError(DBusError(name, "x"))
            #expect(ended.code == .systemCancel)
            #expect(ended.message.contains("ended"), "\(ended)")
        }
        for name in [DBusError.Name.nameHasNoOwner, .serviceUnknown] {
            let absent = AuthenticationError(DBusError(name, "x"))
            #expect(absent.code == .biometryNotAvailable)
            #expect(absent.message.contains("not running"), "\(absent)")
        }
        for name in [DBusError.Name.accessDenied, .failed, "org.example.Error.Other"] {
            let refused = AuthenticationError(DBusError(name, "for a reason"))
            #expect(refused.code == .systemCancel)
            #expect(refused.message.contains("for a reason"), "\(refused)")
        }
    }

    @Test("R34: The reuse duration is sent if set, and is at most five minutes")
    func reuse() throws {
        let context = LAContext()
        func sent() throws -> Variant? { try context.options.wire()["reuse-duration"] }
        #expect(try sent() == nil)
        context.touchIDAuthenticationAllowableReuseDuration = 10
        #expect(try sent() == .double(10))
        context.touchIDAuthenticationAllowableReuseDuration = 1e9
        #expect(try sent() == .double(300))
    }

    @Test("Options are sent under their wire names; unset options are omitted")
    func options() throws {
        var options = AuthenticationOptions()
        #expect(try options.wire() == [:])
        options.fallbackTitle = "Use PIN"
        options.cancelTitle = "Later"
        options.isInteractionNotAllowed = true
        options.reuseDuration = .seconds(90)
        options.timeout = .milliseconds(2500)
        options.minimumStrength = .weak
        options.sensors = ["Finger", "Face"]
        options.requiresConfirmation = false
        options.parentWindow = "x11:2A"
        let sent: [String: Variant] = [
            "fallback-title": .string("Use PIN"), "cancel-title": .string("Later"),
            "interaction-not-allowed": .bool(true), "reuse-duration": .double(90),
            "timeout": .uint64(2500), "minimum-strength": .string("weak"),
            "sensors": .strings(["Finger", "Face"]), "require-confirmation": .bool(false),
            "parent-window": .string("x11:2A"),
        ]
        #expect(try options.wire() == sent)
    }

    @Test("A timeout is positive and at most ten minutes")
    func timeouts() throws {
        var options = AuthenticationOptions()
        for duration in [Duration.seconds(-1), .zero, .milliseconds(600_001), .seconds(601)] {
            options.timeout = duration
            let refusal = #expect(throws: AuthenticationError.self) { try options.wire() }
            #expect(refusal?.code == .systemCancel, "\(duration)")
        }
        let taken: [(Duration, UInt64)] = [
            (.nanoseconds(1), 1), (.microseconds(1500), 2), (.seconds(600), 600_000),
        ]
        for (duration, milliseconds) in taken {
            options.timeout = duration
            #expect(try options.wire() == ["timeout": .uint64(milliseconds)])
        }
    }

    @Test("Every event kind is known; an unknown kind becomes “other”")
    func events() {
        let detail: [String: Variant] = [
            "sensor": .string("Face"), "biometry-type": .uint32(2), "hint": .string("center"),
            "attempts-left": .uint32(2), "cause": .string("48 hours"), "by": .string("zoom"),
        ]
        let wanted: [String: AuthenticationEvent] = [
            "prompt-shown": .promptShown, "sensor-ready": .sensorReady(sensor: "Face", .face),
            "sensor-busy": .sensorBusy(sensor: "Face", .face, by: "zoom"),
            "sensor-failed": .sensorFailed(sensor: "Face", .face, cause: "48 hours"),
            "hint": .hint("center"), "no-match": .noMatch(attemptsLeft: 2),
            "fallback-available": .fallbackAvailable,
            "confirmation-required": .confirmationRequired,
            "passcode-required": .passcodeRequired(cause: "48 hours"),
            "passcode-rejected": .passcodeRejected(attemptsLeft: 2),
            "application-password-required": .other("application-password-required"),
            "success": .other("success"), "wiggled": .other("wiggled"),
        ]
        for (kind, event) in wanted {
            #expect(AuthenticationEvent(StreamEvent(kind: kind, detail: detail)) == event)
        }
        // The table above covers every kind of the contract.
        #expect(EventKind.allCases.allSatisfy { wanted[$0.rawValue] != nil })
    }

    @Test("Apple's policies and the service's policies have equal numbers")
    func policies() {
        for number in 1...4 {
            #expect(LAPolicy(rawValue: number)?.wire.rawValue == UInt32(number))
        }
    }

    @Test("A new context that fails its first call is released")
    @BusActor
    func unusableContext() async throws {
        try await PrivateBus.run { bus in
            let service = try StandInService(bus)
            let (path, made) = (ObjectPath(trusted: "/mute"), MuteContext())
            service.connection.export(path, [made])
            service.context = path
            let context = RemoteContext(ServiceConnection([.address(bus.address)]))
            #expect(try await context.canEvaluate(1).available)
            await #expect(throws: AuthenticationError.self) { _ = try await context.current() }
            _ = try await made.releases.first("its release", within: .seconds(60)) { $0 }
        }
    }

    @Test("The session bus is no fallback for an unreachable service on the system bus")
    @BusActor
    func buses() async throws {
        try await PrivateBus.run { system in
            try await PrivateBus.run { session in
                let own = try StandInService(session)
                let both = [Connection.Address.address(system.address), .address(session.address)]
                let found = try await ServiceConnection(both).current()
                #expect(found.owner == own.connection.uniqueName, "the system has none")
                try await system.offer(TestDaemon.name, ["/bin/false"])
                let error = await #expect(throws: AuthenticationError.self) {
                    _ = try await ServiceConnection(both).current()
                }
                #expect(error?.code == .biometryNotAvailable)
            }
        }
    }

    @Test("The session bus is no fallback if the system bus refuses a connection")
    @BusActor
    func fullBus() async throws {
        try await PrivateBus.run(limits: ["max_connections_per_user": 8]) { system in
            try await PrivateBus.run { session in
                let own = try StandInService(session)
                let both = [Connection.Address.address(system.address), .address(session.address)]
                let found = try await ServiceConnection(both).current()
                #expect(found.owner == own.connection.uniqueName, "the system has none")
                // The bus allows a user eight connections.
                var held: [Connection] = []
                while held.count < 8, let next = try? system.connect() { held.append(next) }
                #expect(held.count < 8)
                let error = await #expect(throws: AuthenticationError.self) {
                    _ = try await ServiceConnection(both).current()
                }
                #expect(error?.code == .biometryNotAvailable)
                for connection in held { connection.close() }
            }
        }
    }
}

/// A context that supports only `Release`.
@BusActor private final class MuteContext: ServedInterface {
    nonisolated static let description = InterfaceDescription(
        name: Context1.interface,
        methods: ["Release": .init(name: "Release", input: "", output: "")],
        properties: [],
        introspection: #"<interface name="org.localauth.Context1"/>"#
    )

    let releases = EventRecorder<Bool>()

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        releases.record(true)
        call.answer(.now(()), "") { (_, _) throws(DBusError) in }
    }
}
