import AuthEngine
import AuthStore
import Contract
import DBus
import Glibc
import KeychainStore
import Linux
import LocalAuthBus

extension AuthService {
    private static let fprintd = "net.reactivated.Fprint"

    /// Determines the conditions of the caller's evaluations.
    func diagnosis(for peer: Peer) async -> Diagnosis {
        let uid = peer.uid
        let processes = CallerProcess.lineage(of: peer.pid)
        var diagnosis = Diagnosis()
        diagnosis.facts = await evaluations.facts.queryFacts(
            for: peer,
            uid: uid,
            processes: processes
        )
        diagnosis.sensors = await sensorFindings(diagnosis.facts, of: uid)
        diagnosis.isDesktop = sessions.isDesktop(diagnosis.facts.session)
        diagnosis.isX11 = sessions.isX11(diagnosis.facts.session)
        if isSystemBus {
            diagnosis.isSystemBus = true
            diagnosis.hasPolicy = BusPolicy.isInstalled()
            if sensors.sensors["Fingerprint"] != nil {
                diagnosis.hasFprintd = await isKnown(Self.fprintd)
            }
        }
        diagnosis.mistake = mistake.map { ($0.error, $0.isRefusing) }
        diagnosis.hasJournal = audit.hasJournal
        diagnosis.setAside = setAside
        diagnosis.keychain = await items.diagnosis(for: peer)
        // systemd names the folder for every unit with LoadCredential=.
        diagnosis.takesCredentials =
            !isSystemBus || StatePath.path(in: "CREDENTIALS_DIRECTORY") != nil
            || getenv("INVOCATION_ID") == nil
        diagnosis.verifierAbsence = verifier.absence
        diagnosis.delay = delay(of: uid)
        if !sessions.isAbsent {
            let around = sessions.surroundings
            diagnosis.isLidClosed = around.isLidClosed && !around.isDocked
        }
        await evaluations.finishLockout(of: uid)
        diagnosis.refusal = evaluations.engine.availability(
            .biometrics,
            uid: uid,
            facts: diagnosis.facts,
            context: nil,
            at: Instant.now()
        )
        switch evaluations.engine.prompter(for: uid, diagnosis.facts) {
        case .success: diagnosis.absence = nil
        case .failure(let absence): diagnosis.absence = absence
        }
        diagnosis.monitors = monitors.count
        diagnosis.unknownOptions = clients.unknownOptions.phrases(for: uid)
        return diagnosis
    }

    /// Whether a bus name has an owner, or the bus can start it.
    func isKnown(_ name: String) async -> Bool {
        if let owner = try? await connection.nameOwner(name), !owner.isEmpty { return true }
        return ((try? await connection.listActivatableNames()) ?? []).contains(name)
    }

    private func sensorFindings(_ facts: Facts, of uid: UInt32) async -> [Diagnosis.Sensor] {
        var findings: [Diagnosis.Sensor] = []
        var questions: [Task<Void, Never>] = []
        var answers: [Int: Diagnosis.Health] = [:]
        for sensor in sensors.sorted {
            let isHidden = facts.isRemote && sensor.isUsable
            findings.append(
                Diagnosis.Sensor(
                    name: sensor.name,
                    description: sensor.facts.description,
                    unavailability: isHidden ? .remoteSession : sensor.unavailability,
                    distrust: sensor.process.distrust,
                    fault: sensor.process.fault,
                    complaint: sensor.process.complaints[uid],
                    templates: facts.sensors.first { $0.name == sensor.name }?.templates ?? 0
                )
            )
            // Do not query an untrusted or sleeping sensor.
            let isAsked = [.ready, .broken(.failed)].contains(sensor.process.state)
            let process = isAsked ? sensor.process : nil
            let index = questions.count
            questions.append(onLoop { answers[index] = await Self.health(of: process) })
        }
        for (index, question) in questions.enumerated() {
            await question.value
            findings[index].health = answers[index]
        }
        return findings
    }

    private static func health(of process: SensorProcess?) async -> Diagnosis.Health? {
        guard let process, let proxy = process.proxy else { return nil }
        guard let (state, message) = try? await process.health(proxy) else {
            return Diagnosis.Health(state: .failed, message: "the sensor does not answer.")
        }
        return Diagnosis.Health(
            state: HealthState(rawValue: state) ?? .failed,
            message: DisplayText.cleaned(message, limit: DisplayText.reasonLimit)
        )
    }

    private func delay(of uid: UInt32) -> Diagnosis.Delay? {
        guard let end = evaluations.engine.records[uid]?.delayedUntil, end > Instant.now() else {
            return nil
        }
        let left = end - Instant.now()
        return Diagnosis.Delay(left: left, until: Self.timeOfDay(in: left))
    }

    /// The local time after the given duration, as hours and minutes.
    private static func timeOfDay(in left: Duration) -> String {
        // Round up, so that the delay is over at that minute.
        var moment = time(nil) + Int(left.components.seconds) + 60
        var parts = tm()
        guard localtime_r(&moment, &parts) != nil else { return "?" }
        let digits = [parts.tm_hour, parts.tm_min].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return digits.joined(separator: ":")
    }
}

extension KeychainObject {
    /// Describes the keychain's state without creating a keychain.
    func diagnosis(for peer: Peer) async -> Diagnosis.KeychainState? {
        guard let store else { return nil }
        let uid = peer.uid
        do throws(KeychainError) {
            let found = try await store.runIfThere { keychain throws(KeychainError) in
                let count = try keychain.itemCount(of: uid)
                guard !keychain.isLost || count > 0 else {
                    return Diagnosis.KeychainState.lost(setAside: keychain.setAside)
                }
                return .open(
                    key: keychain.keyName,
                    isCredential: keychain.isKeyCredential,
                    items: count
                )
            }
            return found ?? .unused
        } catch {
            return .refused(message: error.message, needsMasterKey: error.needsMasterKey)
        }
    }
}

/// The bus policy, which allows the service to own its name on the system bus.
enum BusPolicy {
    static let file = Authentication1.busName + ".conf"
    static let folders = ["/usr/share/dbus-1/system.d", "/etc/dbus-1/system.d"]

    static func isInstalled(in folders: [String] = folders) -> Bool {
        folders.contains { access("\($0)/\(file)", R_OK) == 0 }
    }
}
