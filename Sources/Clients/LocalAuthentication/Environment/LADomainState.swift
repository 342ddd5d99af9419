internal import DBus
public import Foundation
internal import LocalAuthBus
internal import LocalAuthClient

/// The enrolment at one moment, as values.
struct DomainReading: Hashable, Sendable {
    var biometryType = LABiometryType.none
    var biometry: Data?
    var combined: Data?
    var hasCompanion = false

    @BusActor
    static func now() async -> DomainReading {
        // Of a context of its own: to look changes nothing for the one that is looked at.
        let context = RemoteContext(.shared)
        defer { withExtendedLifetime(context) {} }
        var reading = DomainReading()
        guard let proxy = try? await context.current() else { return reading }
        let type = (try? await proxy.biometryType()) ?? 0
        reading.biometryType = LABiometryType(rawValue: Int(type)) ?? .none
        let companion = AuthenticationPolicy.companion.rawValue
        reading.hasCompanion = (try? await proxy.canEvaluate(policy: companion).available) ?? false
        let state = (try? await proxy.domainState()) ?? [:]
        reading.biometry = data(state["biometry"])
        reading.combined = data(state["combined"])
        return reading
    }

    private static func data(_ value: Variant?) -> Data? {
        guard let bytes = value?.asBytes, !bytes.isEmpty else { return nil }
        return Data(bytes)
    }
}

/// Represents what is enrolled: the bytes change whenever that does.
public final class LADomainState: NSObject, Sendable {
    /// The biometric part.
    public let biometry: LADomainStateBiometry
    /// The companions' part.
    public let companion: LADomainStateCompanion
    /// Both together; nil when nothing is enrolled.
    public let stateHash: Data?

    init(_ reading: DomainReading) {
        biometry = LADomainStateBiometry(reading)
        companion = LADomainStateCompanion(reading)
        stateHash = reading.combined
    }
}

/// The biometric enrolment.
public final class LADomainStateBiometry: NSObject, Sendable {
    /// What the strongest sensor looks at.
    public let biometryType: LABiometryType
    /// Changes whenever the enrolment does; nil when nothing is enrolled.
    public let stateHash: Data?

    init(_ reading: DomainReading) {
        biometryType = reading.biometryType
        stateHash = reading.biometry
    }
}

/// The companion devices.
public final class LADomainStateCompanion: NSObject, Sendable {
    /// The kinds of companions that could be used now.
    public let availableCompanionTypes: Set<LACompanionType>
    /// Changes whenever the companions do; nil when there is none.
    ///
    /// It is the hash of biometry and companions together, so it changes with the biometric
    /// enrolment as well.
    public let stateHash: Data?

    init(_ reading: DomainReading) {
        // A device near the person is what Apple calls a watch.
        availableCompanionTypes = reading.hasCompanion ? [.watch] : []
        stateHash = reading.hasCompanion ? reading.combined : nil
    }

    /// The state of one kind of companion; nil when there is none.
    public func stateHash(for companionType: LACompanionType) -> Data? {
        availableCompanionTypes.contains(companionType) ? stateHash : nil
    }
}
