import DBus
import Linux
import LocalAuthBus
import SecurityKey
import SensorKit
import ServiceProgram

/// All connected security keys, as one companion.
@BusActor final class KeySensor: Sensor {
    nonisolated static let options: [ProgramOption] = [
        .value(
            "state-directory",
            "DIR",
            help: "Where credentials are kept (default: see the manual page)."
        ),
        .value("sockets", "DIR", help: "Keys that programs play, in place of devices: for tests."),
    ]

    let name = "Fido2"
    private(set) var properties: SensorProperties
    let store: CredentialStore
    private(set) var keys: [KeyPlace: SecurityKey] = [:]
    /// Signals that keys came, went, were touched or gave up, and that operations were canceled.
    let changes = ConditionVariable()

    private let host: SensorHost
    private let source: KeySource
    private var watch: FolderWatch?
    private var damaged: [String] = []
    private var isLooking = false
    private var mustLook = false
    var running = 0

    private static let stopPatience = Duration.milliseconds(600)

    init(host: SensorHost, _ arguments: ProgramArguments) async throws {
        self.host = host
        let state =
            arguments["state-directory"]
            ?? StatePath.folder(system: "localauth-fido2", user: "localauth-fido2")
            ?? "/var/lib/localauth-fido2"
        do throws(SystemError) {
            store = try CredentialStore(folder: state)
        } catch {
            throw StartError("\(error)")
        }
        source = arguments["sockets"].map(KeySource.sockets) ?? .devices
        // A key played by a program proves nothing.
        let isReal = source == .devices
        properties = SensorProperties(
            description: isReal
                ? "Security key" : "Security key, simulated by a program (proves no presence)",
            biometryType: .companion,
            strength: isReal ? .strong : .convenience
        )
        properties.enrollStages = Self.stages
        properties.maximumTemplates = UInt32(CredentialStore.maximum)
        await look()
        // FolderWatch ignores opens and closes, so that looking at a key does not report a change.
        watch = FolderWatch([state], devices: [source.folder]) { [weak self] in
            onLoop { await self?.lookAtAll() }
        }
        // Catch changes made before the watch started.
        await lookAtAll()
    }

    var health: SensorHealth {
        if let first = damaged.first {
            return .degraded(
                "A credential is damaged or can't be read: \(first). "
                    + "Mend it, or remove it and enrol the security key again."
            )
        }
        return keys.isEmpty ? .degraded("No security key is plugged in.") : .ok
    }

    func stop() async {
        _ = await changes.wait(atMost: Self.stopPatience) { self.running == 0 }
    }

    func look() async {
        mustLook = true
        guard !isLooking else { return }
        isLooking = true
        defer { isLooking = false }
        while mustLook {
            mustLook = false
            show(await source.places())
        }
    }

    private func show(_ places: Set<KeyPlace>) {
        guard places != Set(keys.keys) || properties.isPresent == places.isEmpty else { return }
        keys = keys.filter { places.contains($0.key) }
        for place in places where keys[place] == nil {
            do throws(KeyFault) {
                keys[place] = try SecurityKey(place)
            } catch {
                log(.error, "a security key can't be used: \(error)")
            }
        }
        properties.isPresent = !keys.isEmpty
        properties.unavailability = keys.isEmpty ? .noHardware : nil
        host.propertiesChanged()
        changes.notifyAll()
    }

    private func lookAtAll() async {
        await look()
        await lookAtCredentials()
    }

    /// Reports credentials that another program added, removed or damaged.
    private func lookAtCredentials() async {
        for user in (try? await store.changedUsers()) ?? [] { host.templatesChanged(of: user) }
        damaged = (try? await store.damaged()) ?? []
    }

    // MARK: Templates

    func templates(of user: UInt32) async throws(SensorFault) -> [Template] {
        try await entries(of: user)
            .map { Template(id: $0.id, label: $0.label, created: $0.created) }
    }

    func entries(of user: UInt32) async throws(SensorFault) -> [CredentialStore.Entry] {
        do throws(SystemError) {
            return try await store.entries(of: user)
        } catch {
            // Update the health before the caller reads it.
            damaged = (try? await store.damaged()) ?? []
            throw .credentials(error)
        }
    }

    func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault) {
        let isThere: Bool
        do throws(SystemError) {
            isThere = try await store.rename(id, of: user, to: label)
        } catch {
            throw .credentials(error)
        }
        if !isThere { throw .noTemplates }
    }

    func remove(_ id: String, of user: UInt32) async throws(SensorFault) {
        let isThere: Bool
        do throws(SystemError) {
            isThere = try await store.remove(id, of: user)
        } catch {
            throw .credentials(error)
        }
        if !isThere { throw .noTemplates }
    }

    func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32 {
        do throws(SystemError) {
            return try await store.removeAll(of: user)
        } catch {
            throw .credentials(error)
        }
    }
}

extension SensorFault {
    /// A fault of the credential store, as a sentence for translation that contains the path.
    static func credentials(_ error: SystemError) -> SensorFault {
        .failed("A credential can't be read or kept in \(error.path): \(error.message)")
    }
}
