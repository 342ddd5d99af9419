public import BusBench
public import DBus
public import LocalAuthBus
public import Sealing

/// A password verifier with a common password for all users.
@BusActor public final class ScriptedVerifier: Passcode1Service {
    public nonisolated static let name = "org.localauth.Passcode1"
    /// The password of every user.
    public nonisolated static let passcode = "horse battery 2468"

    public let connection: Connection
    /// Whether users have a password; changes are announced to the service.
    public var isPasscodeSet: Bool {
        didSet { if isPasscodeSet != oldValue, tells { tellChange() } }
    }
    /// Whether changes are announced.
    public var tells = true
    /// The uid in an announced change; UInt32.max for all users.
    public var toldUser = UInt32.max
    /// Whether an unset password may come back, like a locked account's.
    public var isLocked = false {
        didSet { if isLocked != oldValue, tells { tellChange() } }
    }
    /// Whether the verifier can report that a password is gone for good.
    public var knowsRemoval = true
    /// Whether queries for a set password fail.
    public var isBroken = false
    /// Runs when a query for a set password arrives, before its reply.
    public var onQuestion: (@BusActor @Sendable () -> Void)?
    /// Whether queries for a set password stay unanswered.
    public var isHeld = false
    /// The number of coming verifications that fail without a verdict.
    public var faults = 0
    /// Whether verifications stay unanswered.
    public var isSilent = false
    /// Whether the verifier exits at the next Verify, before it unseals the password.
    public var isLeaving = false
    /// Runs before each verdict; nil to answer at once.
    public var beforeVerdict: (@BusActor @Sendable () async -> Void)?
    /// Unseals the values of Verify; a new key simulates a reboot.
    public var sealingKey = SealingKey()
    /// The number of running verifications.
    public private(set) var running = 0
    /// The maximum number of simultaneous verifications so far.
    public private(set) var mostAtOnce = 0
    /// Users for whom a set password was queried.
    public let asked = EventRecorder<UInt32>()
    /// Users with a verification.
    public let verified = EventRecorder<UInt32>()

    /// Takes the verifier's name on a new connection.
    public convenience init(on bus: PrivateBus, isPasscodeSet: Bool = true) throws(DBusError) {
        try self.init(try bus.connect(), isPasscodeSet: isPasscodeSet)
    }

    /// Takes the verifier's name for this connection.
    public init(_ connection: Connection, isPasscodeSet: Bool = true) throws(DBusError) {
        self.connection = connection
        self.isPasscodeSet = isPasscodeSet
        connection.export(
            ObjectPath(trusted: "/org/localauth/Passcode1"),
            [Passcode1Interface(self)]
        )
        try connection.requestName(Self.name)
    }

    /// Announces a change of a password.
    public func tellChange() {
        Passcode1Signals(connection, path: Passcode1.path).changed(uid: toldUser)
    }

    /// Returns whether a password is set, or fails if `isBroken`.
    public func isSet(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        asked.record(uid)
        guard !isBroken else { throw DBusError(.failed, "scripted") }
        guard !isHeld else {
            return .later { () throws(DBusError) in
                await never()
                return false
            }
        }
        let answer = isPasscodeSet
        onQuestion?()
        return .now(answer)
    }

    /// Returns whether an unset password is gone for good.
    public func isRemoved(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        guard !isBroken, knowsRemoval else { throw DBusError(.unknownMethod, "scripted") }
        return .now(!isPasscodeSet && !isLocked)
    }

    /// Compares the typed text, unless the script says otherwise.
    public func verify(
        uid: UInt32,
        prompt: String,
        sealed: [UInt8],
        call: IncomingCall
    ) throws(DBusError) -> Answer<Bool> {
        verified.record(uid)
        if isLeaving {
            connection.releaseName(Self.name)
            throw DBusError(.passcodeCanceled, "leaving")
        }
        guard let attempt = sealingKey.open(sealed, for: .passcode, of: prompt) else {
            throw DBusError(.invalidArgs, "the passcode does not open")
        }
        if isSilent {
            return .later { () throws(DBusError) in
                await never()
                return false
            }
        }
        if faults > 0 {
            faults -= 1
            throw DBusError(.failed, "scripted")
        }
        let isCorrect = attempt.use { $0 == Array(Self.passcode.utf8) }
        guard let beforeVerdict else { return .now(isCorrect) }
        running += 1
        mostAtOnce = max(mostAtOnce, running)
        return .later { () throws(DBusError) in
            await beforeVerdict()
            self.running -= 1
            return isCorrect
        }
    }

    public func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] { sealingKey.publicKey }
}

/// Waits longer than a test lasts.
@BusActor public func never() async {
    _ = try? await EventRecorder<Bool>().first("nothing", within: .seconds(60)) { _ in false }
}
