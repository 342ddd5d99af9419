import DBus
import Linux
import LocalAuthBus
import LocalAuthClient
import Localization
import Passkeys

/// Passkeys in the keychain of localauthd, which verifies the person.
@BusActor final class KeychainVault: PasskeyVault {
    private let connection: Connection
    /// The context of the running verification.
    private var running: Context1Proxy?
    private var isCanceled = false

    /// The longest wait for the person.
    private let patience: Duration
    /// Characters of an account in a prompt.
    private static let longestAccount = 64

    init(_ connection: Connection, patience: Duration) {
        (self.connection, self.patience) = (connection, patience)
    }

    func canVerify() async -> Bool {
        guard let service = try? await service() else { return false }
        let policy = AuthenticationPolicy.biometricsOrPasscode.rawValue
        return (try? await service.manager.canEvaluate(policy: policy))?.available == true
    }

    /// A passkey without its key, after a crash, is none.
    func passkeys(of site: String) async throws(VaultFault) -> [Passkey] {
        let service = try await service()
        do throws(DBusError) {
            let items = try await service.search(
                Passkey.query.merging(["svce": .string(site)]) { $1 }
            )
            guard !items.isEmpty else { return [] }
            let keys = try await service.search([
                "class": .string("keys"), "agrp": .string(Passkey.group), "labl": .string(site),
            ])
            let tags = Set(keys.compactMap { $0["atag"]?.asBytes })
            return items.compactMap { Passkey($0) }
                .filter { $0.isExportable || tags.contains($0.id) }.reversed()
        } catch {
            throw VaultFault(error)
        }
    }

    func verify(_ act: PasskeyAct) async throws(VaultFault) -> any PasskeyAccess {
        isCanceled = false
        let service = try await service()
        let start = Boot.nanoseconds()
        var isShown = false
        do throws(DBusError) {
            let reason = try await reason(act, service)
            let path = try await service.manager.createContext(properties: [:])
            let context = service.context(at: path)
            let access = KeychainAccess(service, context)
            guard !isCanceled else { throw DBusError(.appCancel, "") }
            running = context
            defer { running = nil }
            let call = try context.evaluateStream(
                policy: AuthenticationPolicy.biometricsOrPasscode.rawValue,
                reason: reason,
                options: [
                    // No other sensor opens a key.
                    "minimum-strength": .string(BiometryStrength.strong.rawValue),
                    "timeout": .uint64(UInt64(patience / .milliseconds(1))),
                ]
            )
            for await event in call.events where event.kind == EventKind.promptShown.rawValue {
                isShown = true
            }
            _ = try await call.reply()
            return access
        } catch {
            let isLate = Boot.nanoseconds() - start >= Int64(patience / .nanoseconds(1))
            throw VaultFault(error, isShown: isShown, isLate: isLate)
        }
    }

    func cancelVerification() {
        isCanceled = true
        running?.sendInvalidate()
    }

    private func service() async throws(VaultFault) -> RemoteService {
        do throws(DBusError) {
            if let service = try await RemoteService.find(on: connection) { return service }
        } catch {
            throw VaultFault(error)
        }
        throw .unreachable("The authentication service is not installed.")
    }

    /// The words after “is trying to”.
    private func reason(
        _ act: PasskeyAct,
        _ service: RemoteService
    ) async throws(DBusError) -> String {
        switch act {
        case .create(let site, let account) where account.isEmpty:
            localized("create a passkey for “%1$s”", site)
        case .create(let site, let account):
            localized(
                "create a passkey for “%1$s” as “%2$s”",
                site,
                String(account.prefix(Self.longestAccount))
            )
        case .signIn(let site, let account?) where !account.isEmpty:
            localized(
                "sign in to “%1$s” as “%2$s”",
                site,
                String(account.prefix(Self.longestAccount))
            )
        case .signIn(let site, _): localized("sign in to “%1$s”", site)
        case .select: localized("use a passkey of this computer")
        case .deleteAll:
            localizedCount(
                "delete %1$s passkey, which signs you in to its site",
                "delete all %1$s passkeys, which sign you in to their sites",
                try await service.search(Passkey.query).count
            )
        }
    }
}

extension VaultFault {
    /// The fault of a call; `isShown` says whether the person saw a prompt.
    init(_ error: DBusError, isShown: Bool = false, isLate: Bool = false) {
        switch RefusalCode(error.name) {
        case .userCancel, .userFallback: self = .denied
        // Refused at once, because a delay after wrong passwords runs.
        case .authenticationFailed: self = isShown ? .failed : .locked
        case .biometryLockout: self = .locked
        case .appCancel, .invalidContext: self = .canceled
        case .systemCancel where isLate: self = .timedOut
        case .systemCancel, .notInteractive, .passcodeNotSet, .limitsExceeded: self = .unattended
        case .some, nil: self = Self.ofKeychain(error)
        }
    }

    private static func ofKeychain(_ error: DBusError) -> VaultFault {
        switch error.name {
        case .limitsExceeded: .full
        case .keychainInteractionNotAllowed, .keychainAuthFailed: .unattended
        default: .unreachable(error.message)
        }
    }
}
