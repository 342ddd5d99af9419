import DBus
import LocalAuthBus
import TestSupport
import Testing

/// A call in whose midst somebody is killed: an evaluation, an enrolment or a read of the keychain.
@BusActor
struct KilledCall {
    /// How far it has come.
    enum Step: CaseIterable {
        case called, shown, looking, missed, matching
        /// A wrong passcode is with the verifier, which has not answered.
        case typed
        /// It was told that it was wrong.
        case rejected
        /// The right passcode is with the verifier, which has not answered.
        case verifying
        /// There was a match, which waits to be confirmed.
        case confirming
        /// The sensor has seen two of an enrolment's five stages.
        case enrolling
        /// The prompt of a keychain item is up, which a match opens.
        case reading
        /// There was the match, and the item's own password is asked for.
        case asked

        /// Whether the verifier doesn't answer until it is over.
        var isHeld: Bool { self == .typed || self == .verifying }

        /// How many misses count, of one before the call, until a match or a passcode is accepted.
        var misses: Int {
            switch self {
            case .missed: 2
            case .matching, .enrolling, .asked: 0
            default: 1
            }
        }

        /// The same of wrong passcodes, beside those that the call takes.
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
    /// Ends what no prompt ends.
    let cancel: @BusActor () async -> Void
    /// The keychain item; nil: there is none.
    private let item: String?

    /// Begins the call; the bench shows the prompts.
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

    /// How it ends: the error, or nothing when it was granted.
    func end() async -> DBusError? {
        do throws(DBusError) {
            try await reply()
            return nil
        } catch {
            return error
        }
    }

    /// What it was about is as it was before.
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

    /// Begins to read an item; what comes of it is the secret.
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
    /// The daemon's unique name: events are followed from no other.
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

    /// Makes a sensor one whose matches have to be confirmed, or that of before.
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
