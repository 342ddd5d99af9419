import AuthEngine
import BusGuard
import DBus
import KeychainStore
import LocalAuthBus
import ServiceProgram

/// A mistake in the settings that nobody has mended yet.
@BusActor
struct ConfigurationMistake {
    let error: ConfigurationError
    /// Whether there were no settings before it to go on with: then calls are refused.
    let isRefusing: Bool
    /// Sees that the file was changed.
    let watch: FolderWatch
}

/// Settings that are read again, and those that can't be used.
extension AuthService {
    /// What is answered whatever the settings say: who asks, and what is wrong.
    private static let answered: Set = [
        "CanEvaluate", "CanInteract", "Diagnose", "RegisterAgent", "UnregisterAgent",
    ]

    /// Reads the configuration anew; a bad one keeps the old settings and is told in the log.
    package func reload() {
        guard let readConfiguration else { return }
        do throws(ConfigurationError) {
            configuration = try readConfiguration()
            let wasRefusing = mistake?.isRefusing == true
            mistake = nil
            neighbours.gate = nil
            neighbours.quota.limits = MethodQuotas.limits(configuration)
            evaluations.handle(.configured(configuration.engineSettings(isSystemBus: isSystemBus)))
            evaluations.keychainStrength = configuration.keychainStrength
            sensors.disabled = Set(configuration.disabledSensors)
            sensors.reviewTrust()
            let (keychain, itemLimit) = (keychain, configuration.itemsPerUser)
            onLoop { await keychain?.limitItems(to: itemLimit) }
            // Whoever may be asked now, could not be.
            if wasRefusing { agentsChanged() }
            log(.notice, "the configuration was read again")
            audit.write(AuditRecord(.configurationReloaded))
        } catch {
            found(error, isRefusing: mistake?.isRefusing ?? false)
        }
    }

    /// There are no settings: what they would decide is refused until there are.
    func found(_ error: ConfigurationError, isRefusing: Bool) {
        log(
            .error,
            isRefusing ? "every call is refused: \(error)" : "the old settings stay: \(error)"
        )
        audit.write(AuditRecord(.configurationRefused, [.cause: "\(error)"]))
        let watch =
            mistake?.watch
            ?? FolderWatch(error.folders) { [weak self] in self?.reloadIfMended() }
        let mistake = ConfigurationMistake(error: error, isRefusing: isRefusing, watch: watch)
        self.mistake = mistake
        guard isRefusing else { return }
        neighbours.gate = { member, interface in
            guard !Self.answered.contains(member) else { return nil }
            let isKeychain = interface == Keychain1.interface
            return DBusError(isKeychain ? .keychainNotAvailable : .systemCancel, mistake.message)
        }
    }

    /// The folder of the file has changed; nothing is said of a mistake that is known.
    private func reloadIfMended() {
        guard let mistake, let readConfiguration else { return }
        do throws(ConfigurationError) {
            _ = try readConfiguration()
        } catch {
            guard error != mistake.error else { return }
        }
        reload()
    }
}

extension ConfigurationError {
    /// Where the file is, and where that folder is made.
    fileprivate var folders: [String] {
        var parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        if parts.isEmpty { return ["."] }
        let folder = parts.joined(separator: "/")
        parts.removeLast()
        return [
            folder.isEmpty ? "/" : folder, parts.isEmpty ? "." : parts.joined(separator: "/") + "/",
        ]
    }
}
