import AuthEngine
import BusGuard
import DBus
import KeychainStore
import LocalAuthBus
import ServiceProgram

extension AuthService {
    /// Methods that work without settings, because they register agents and report the mistake.
    private static let answered: Set = [
        "CanEvaluate", "CanInteract", "Diagnose", "RegisterAgent", "UnregisterAgent",
    ]

    /// Reads the configuration again; on an error the old settings stay, and the log says why.
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
            // Agents can prompt now, because calls are no longer refused.
            if wasRefusing { agentsChanged() }
            log(.notice, "the configuration was read again")
            audit.write(AuditRecord(.configurationReloaded))
        } catch {
            found(error, isRefusing: mistake?.isRefusing ?? false)
        }
    }

    /// Records a mistake; without earlier settings, the gate refuses calls until it is corrected.
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

    /// Reloads after a change in the file's folder, unless the known mistake is still there.
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
    /// The file's folder, and the folder above it, in case the file's folder does not exist yet.
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
