package import DBus
internal import Foundation
internal import LocalAuthBus
package import LocalAuthClient
internal import Sealing
internal import Security

extension LAContext {
    func currentBiometryType() -> LABiometryType {
        guard !isInvalid else { return .none }
        let type = blocking(orElse: UInt32(0)) {
            guard let service = try? await ServiceConnection.shared.current() else { return 0 }
            return (try? await service.manager.biometryType()) ?? 0
        }
        return LABiometryType(rawValue: Int(type)) ?? .none
    }

    func lastDomainState() -> Data? {
        guard !isInvalid else { return nil }
        let remote = session.context
        let bytes = blocking(orElse: [UInt8]()) { await remote.domainState() }
        return bytes.isEmpty ? nil : Data(bytes)
    }

    func currentDomainState() -> LADomainState {
        guard !isInvalid else { return LADomainState(DomainReading()) }
        return LADomainState(blocking(orElse: DomainReading()) { await DomainReading.now() })
    }

    func give(_ credential: Data?, _ type: LACredentialType) -> Bool {
        guard !isInvalid else { return false }
        let remote = session.context
        let bytes = credential.map { [UInt8]($0) }
        return blocking(orElse: false) {
            let type = Int32(type.rawValue)
            guard let bytes else {
                // Without an object no credential is set.
                guard let proxy = await remote.existing() else { return true }
                return (try? await proxy.clearCredential(credentialType: type)) ?? false
            }
            guard let proxy = try? await remote.current() else { return false }
            return (try? await proxy.setCredential(type, sealing: SecretBytes(bytes))) ?? false
        }
    }

    func has(_ type: LACredentialType) -> Bool {
        guard !isInvalid else { return false }
        let remote = session.context
        return blocking(orElse: false) {
            guard let proxy = await remote.existing() else { return false }
            return (try? await proxy.isCredentialSet(credentialType: Int32(type.rawValue))) ?? false
        }
    }

    /// The options for an evaluation that starts now.
    var options: AuthenticationOptions {
        var options = AuthenticationOptions()
        options.fallbackTitle = localizedFallbackTitle
        // Always send the title: the object may have another title from a keychain call.
        options.cancelTitle = localizedCancelTitle ?? ""
        options.isInteractionNotAllowed = interactionNotAllowed
        let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
        let duration = touchIDAuthenticationAllowableReuseDuration
        if duration > 0 { options.reuseDuration = .seconds(min(duration, longest)) }
        return options
    }
}

extension LAContext: AuthenticationContextSource {
    package var remote: RemoteContext { session.context }

    package var forbidsInteraction: Bool { interactionNotAllowed }

    package var promptReason: String { localizedReason }

    package var isInvalidated: Bool { isInvalid }

    package func prepare(
        on service: RemoteService
    ) async throws(AuthenticationError) -> ObjectPath {
        let options = options
        let reason = localizedReason
        return try await remote.describePrompts(options, reason: reason, on: service)
    }
}

extension SecAccessControl {
    /// The error for an operation that the access control does not contain, as on Apple's systems.
    ///
    /// With `privateKeyUsage` an access control guards the uses of a key, otherwise the reading of
    /// an item. Without flags it contains every operation.
    func missing(_ operation: LAAccessControlOperation) -> KeychainFailure? {
        guard !flags.isEmpty else { return nil }
        let isOfKey = flags.contains(.privateKeyUsage)
        return switch operation {
        case .useItem where isOfKey: .notInAccessControl("od")
        case .useKeySign where !isOfKey: .notInAccessControl("osgn")
        case .useKeyKeyExchange where !isOfKey: .notInAccessControl("ock")
        default: nil
        }
    }
}

extension LAPolicy {
    var wire: AuthenticationPolicy {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: .biometrics
        case .deviceOwnerAuthentication: .biometricsOrPasscode
        case .deviceOwnerAuthenticationWithCompanion: .companion
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion: .biometricsOrCompanion
        }
    }
}
