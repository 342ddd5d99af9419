internal import DBus
public import Foundation
internal import LocalAuthBus
internal import LocalAuthClient

/// A snapshot of the enrolment.
struct DomainReading: Hashable, Sendable {
    var biometryType = LABiometryType.none
    var biometry: Data?
    var combined: Data?
    var hasCompanion = false

    @BusActor
    static func now() async -> DomainReading {
        // A separate context: reading must not change the state of the observed context.
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

/// Digests of the enrolment, which change whenever the enrolment does.
public final class LADomainState: NSObject, Sendable {
    public let biometry: LADomainStateBiometry
    public let companion: LADomainStateCompanion
    /// The digest of biometry and companions together; nil without an enrolment.
    public let stateHash: Data?

    init(_ reading: DomainReading) {
        biometry = LADomainStateBiometry(reading)
        companion = LADomainStateCompanion(reading)
        stateHash = reading.combined
    }
}

public final class LADomainStateBiometry: NSObject, Sendable {
    /// The kind of the strongest sensor.
    public let biometryType: LABiometryType
    /// A digest that changes whenever the enrolment does; nil without an enrolment.
    public let stateHash: Data?

    init(_ reading: DomainReading) {
        biometryType = reading.biometryType
        stateHash = reading.biometry
    }
}

public final class LADomainStateCompanion: NSObject, Sendable {
    /// The kinds of companions that can be used now.
    public let availableCompanionTypes: Set<LACompanionType>
    /// A digest that changes whenever the companions do; nil without a companion.
    ///
    /// The digest covers biometry as well, so it also changes with the biometric enrolment.
    public let stateHash: Data?

    init(_ reading: DomainReading) {
        // A device near the user corresponds to Apple's watch.
        availableCompanionTypes = reading.hasCompanion ? [.watch] : []
        stateHash = reading.hasCompanion ? reading.combined : nil
    }

    /// Returns the digest for a kind of companion; nil without such a companion.
    public func stateHash(for companionType: LACompanionType) -> Data? {
        availableCompanionTypes.contains(companionType) ? stateHash : nil
    }
}
