public import BusBench
public import DBus
public import LocalAuthBus
public import Sealing

/// A passcode verifier for whom everybody's passcode is the same.
@BusActor public final class ScriptedVerifier: Passcode1Service {
    /// Its bus name.
    public nonisolated static let name = "org.localauth.Passcode1"
    /// Everybody's passcode.
    public nonisolated static let passcode = "horse battery 2468"

    /// Where it serves.
    public let connection: Connection
    /// Whether everybody has a passcode; it tells the service when that changes.
    public var isPasscodeSet: Bool {
        didSet { if isPasscodeSet != oldValue, tells { tellChange() } }
    }
    /// Whether it tells of a change.
    public var tells = true
    /// Whose passcode it calls another when it tells of a change; UInt32.max: everybody's.
    public var toldUser = UInt32.max
    /// Whether a passcode that isn't set may come back, as that of a locked account.
    public var isLocked = false {
        didSet { if isLocked != oldValue, tells { tellChange() } }
    }
    /// Whether it can say that a passcode is gone for good.
    public var knowsRemoval = true
    /// It can't say whether a passcode is set.
    public var isBroken = false
    /// What happens when it was asked whether a passcode is set, before the answer is sent.
    public var onQuestion: (@BusActor @Sendable () -> Void)?
    /// Nothing is answered of whether a passcode is set, while it is true.
    public var isHeld = false
    /// So many verifications say neither yes nor no.
    public var faults = 0
    /// Verifications are not answered.
    public var isSilent = false
    /// Exits at the next Verify, before it opens the passcode.
    public var isLeaving = false
    /// Each verification is answered when this has run; nil: at once.
    public var beforeVerdict: (@BusActor @Sendable () async -> Void)?
    /// Opens the values of Verify; a new key is the key after a reboot.
    public var sealingKey = SealingKey()
    /// How many verifications run now.
    public private(set) var running = 0
    /// How many ran at once at the most.
    public private(set) var mostAtOnce = 0
    /// The users of whom it was asked whether a passcode is set.
    public let asked = Witness<UInt32>()
    /// The users whose passcode it was to verify.
    public let verified = Witness<UInt32>()

    /// Takes its name on a bus.
    public convenience init(on bus: PrivateBus, isPasscodeSet: Bool = true) throws(DBusError) {
        try self.init(try bus.connect(), isPasscodeSet: isPasscodeSet)
    }

    /// Takes its name for this connection.
    public init(_ connection: Connection, isPasscodeSet: Bool = true) throws(DBusError) {
        self.connection = connection
        self.isPasscodeSet = isPasscodeSet
        connection.export(
            ObjectPath(trusted: "/org/localauth/Passcode1"),
            [Passcode1Interface(self)]
        )
        try connection.requestName(Self.name)
    }

    /// Says that a passcode may have come or gone.
    public func tellChange() {
        Passcode1Signals(connection, path: Passcode1.path).changed(uid: toldUser)
    }

    /// Whether a passcode is set, unless it is broken.
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

    /// Whether a passcode that isn't set is gone for good.
    public func isRemoved(uid: UInt32, call: IncomingCall) throws(DBusError) -> Answer<Bool> {
        guard !isBroken, knowsRemoval else { throw DBusError(.unknownMethod, "scripted") }
        return .now(!isPasscodeSet && !isLocked)
    }

    /// Compares what was typed, unless the script says something else.
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

    /// The key that prompts seal passcodes to.
    public func sealingKey(for peer: Peer?) throws(DBusError) -> [UInt8] { sealingKey.publicKey }
}

/// Does not return within a test's life.
@BusActor public func never() async {
    _ = try? await Witness<Bool>().first("nothing", within: .seconds(60)) { _ in false }
}
