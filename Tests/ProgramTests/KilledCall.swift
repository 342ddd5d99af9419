import DBus
import LocalAuthBus
import TestSupport
import Testing

/// A call during which a process is killed: an evaluation, an enrolment or a read of the keychain.
@BusActor
struct KilledCall {
    enum Step: CaseIterable {
        case called, shown, looking, missed, matching
        /// The verifier has a wrong password and withholds its verdict.
        case typed
        case rejected
        /// The verifier has the right password and withholds its verdict.
        case verifying
        case confirming
        /// The sensor has reported two of an enrolment's five stages.
        case enrolling
        /// The prompt of a keychain item is shown, and a match will open the item.
        case reading
        /// After the match, the prompt requests the item's own password.
        case asked

        /// Whether the verifier withholds its verdict until the kill.
        var isHeld: Bool { self == .typed || self == .verifying }

        /// Misses that count until a match or password is accepted, including a miss before the
        /// call.
        var misses: Int {
            switch self {
            case .missed: 2
            case .matching, .enrolling, .asked: 0
            default: 1
            }
        }

        /// Wrong passwords that count, without those of the call.
        var wrongPasscodes: Int { self == .enrolling ? 0 : 1 }
    }

    private static let password = "an app's own"
    private static let secret = "what was kept"
    private static let biometryAny: UInt64 = 1 << 1
    private static let applicationPassword: UInt64 = 1 << 31
    private static let options: [String: Variant] = ["sensors": .strings(["One"])]

    let step: Step
    let events: AsyncStream<StreamEvent>
    private let reply: @BusActor () async throws(DBusError) -> Void
    /// Cancels a call that no prompt can cancel.
    let cancel: @BusActor () async -> Void
    private let item: String?

    /// Starts the call; the bench shows the prompts.
    init(_ step: Step, of client: Connection, at bench: CrashBench) async throws {
        self.step = step
        bench.forgetPrompts()
        if step.isHeld { try bench.holdChecks() }
        switch step {
        case .enrolling:
            item = nil
            let call = try await Self.enrol(client, bench)
            (events, reply) = (
                call.0.events, { () throws(DBusError) in _ = try await call.0.reply() }
            )
            cancel = { try? await call.1.cancelEnroll() }
        case .reading, .asked:
            let id = try await Self.add(isGuardedByPassword: step == .asked, bench)
            item = id
            if step == .asked { try await bench.sensor("One").queue(outcomes: ["match"]) }
            let answer = try await Self.read(id, of: client, at: bench)
            reply = { () throws(DBusError) in _ = try await answer.value.get() }
            (events, cancel) = (AsyncStream { $0.finish() }, {})
        default:
            item = nil
            if step == .confirming { try await bench.becomeFace(true) }
            let owner = try await bench.owner()
            let call = try Authentication1Proxy(client, destination: owner, path: TestDaemon.root)
                .evaluateStream(
                    policy: step == .confirming ? 1 : 2,
                    reason: "test",
                    options: Self.options
                )
            (events, reply) = (call.events, { () throws(DBusError) in _ = try await call.reply() })
            cancel = {}
        }
    }

    /// Waits for the end; returns the error, or nil if granted.
    func end() async -> DBusError? {
        do throws(DBusError) {
            try await reply()
            return nil
        } catch {
            return error
        }
    }

    /// Expects that the call left no change.
    func expectNothingLeft(at bench: CrashBench, _ what: Comment) async throws {
        switch step {
        case .confirming: try await bench.becomeFace(false)
        case .enrolling:
            let device = try await Self.device(bench.connection, bench)
            let templates = try await device.listTemplates(options: [:])
            #expect(templates.map(\.label) == ["finger"], what)
        default: break
        }
        guard let item else { return }
        let context = try await bench.context(on: bench.connection)
        _ = try await context.setCredential(
            credentialType: 0,
            secret: Array(Self.password.utf8),
            options: [:]
        )
        try await bench.sensor("One").queue(outcomes: ["match"])
        let answer = try await Self.read(item, of: bench.connection, at: bench, context)
        #expect(try await answer.value.get() == Array(Self.secret.utf8), what)
        #expect(try await bench.keychain(on: bench.connection).delete(ids: [item]) == 1, what)
    }

    // MARK: - Enrolments

    private static func device(
        _ client: Connection,
        _ bench: CrashBench
    ) async throws -> Device1Proxy {
        let path = TestDaemon.devicePath("One")
        return Device1Proxy(client, destination: try await bench.owner(), path: path)
    }

    private static func enrol(
        _ client: Connection,
        _ bench: CrashBench
    ) async throws -> (StreamingCall<String>, Device1Proxy) {
        let context = try await bench.context(on: client)
        bench.mood = .right
        _ = try await context.evaluate(
            policy: 2,
            reason: "test",
            options: CrashBench.passcodeInTime
        )
        bench.mood = .watching
        try await bench.sensor("One").queue(outcomes: ["match", "match"])
        let device = try await device(client, bench)
        let options: [String: Variant] = ["context": .objectPath(context.path)]
        return (try device.enrollStream(label: "other", options: options), device)
    }

    // MARK: - The keychain

    private static func add(
        isGuardedByPassword: Bool,
        _ bench: CrashBench
    ) async throws -> String {
        let context = try await bench.context(on: bench.connection)
        _ = try await context.setCredential(
            credentialType: 0,
            secret: Array(password.utf8),
            options: [:]
        )
        let flags = isGuardedByPassword ? biometryAny | applicationPassword : biometryAny
        return try await bench.keychain(on: bench.connection)
            .add(
                attributes: ["class": .string("genp"), "svce": .string("kept")],
                secret: Array(secret.utf8),
                accessControl: ["flags": .uint64(flags)],
                options: ["context": .objectPath(context.path)]
            )
    }

    /// Starts to read an item; the task returns the secret.
    private static func read(
        _ id: String,
        of client: Connection,
        at bench: CrashBench,
        _ context: Context1Proxy? = nil
    ) async throws -> Task<Result<[UInt8], DBusError>, Never> {
        let keychain = try await bench.keychain(on: client)
        var options = options
        options["context"] = context.map { .objectPath($0.path) }
        let allOptions = options
        return Task { @BusActor in
            do throws(DBusError) {
                return .success(
                    try await keychain.read(id: id, reason: "test", options: allOptions)
                )
            } catch {
                return .failure(error)
            }
        }
    }
}

extension CrashBench {
    /// The daemon's unique name, which event streams need.
    fileprivate func owner() async throws -> String {
        try #require(try await connection.nameOwner(TestDaemon.name))
    }

    fileprivate func context(on client: Connection) async throws -> Context1Proxy {
        let owner = try await owner()
        let path = try await Authentication1Proxy(client, destination: owner, path: TestDaemon.root)
            .createContext(properties: [:])
        return Context1Proxy(client, destination: owner, path: path)
    }

    fileprivate func keychain(on client: Connection) async throws -> Keychain1Proxy {
        Keychain1Proxy(client, destination: try await owner(), path: Keychain1.path)
    }

    /// Turns the sensor into a face sensor, whose matches need confirmation, or back.
    fileprivate func becomeFace(_ isFace: Bool) async throws {
        let sensor = sensor("One")
        try await sensor.setBiometryType(biometryType: isFace ? 2 : 1)
        try await sensor.setStrength(strength: isFace ? "convenience" : "strong")
        let path = TestDaemon.devicePath("One")
        let device = Device1Proxy(connection, destination: TestDaemon.name, path: path)
        try await eventually("another kind of sensor") {
            try await device.biometryType() == (isFace ? 2 : 1)
        }
    }
}
