import AuthEngine
import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("What the doctor says")
struct DiagnosisTests {
    private func check(
        _ name: String,
        _ prepare: (inout Diagnosis) -> Void = { _ in }
    ) -> Diagnosis.Check? {
        var diagnosis = Diagnosis()
        prepare(&diagnosis)
        for check in diagnosis.checks where check.state != .ok {
            #expect(!check.message.isEmpty && !check.remedy.isEmpty, "\(check)")
        }
        return diagnosis.checks.first { $0.name == name }
    }

    @Test("Where all is well every check is ok, and nothing is to be done")
    func well() {
        var diagnosis = Diagnosis(isSystemBus: true, hasPolicy: true)
        diagnosis.facts = Facts(
            sensors: [
                SensorFact(
                    name: "Fingerprint",
                    type: .fingerprint,
                    strength: .strong,
                    availability: .usable,
                    templates: 1
                )
            ],
            passcode: .set,
            session: "c1"
        )
        diagnosis.isLidClosed = false
        diagnosis.hasFprintd = true
        diagnosis.sensors = [
            .init(
                name: "Fingerprint",
                description: "A reader.",
                health: .init(state: .ok, message: "")
            )
        ]
        diagnosis.absence = nil
        #expect(diagnosis.checks.filter { $0.state != .ok || !$0.remedy.isEmpty }.isEmpty)
        let names = diagnosis.checks.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.contains("sensor Fingerprint") && names.contains("lid"))
    }

    @Test("No agent, no sensor, no verifier, no passcode")
    func nothing() {
        #expect(check("agent")?.remedy.contains("localauthctl agent") == true)
        #expect(check("sensors")?.state == .warning)
        let absent = check("passcode") {
            $0.facts.passcode = .unknown
            $0.verifierAbsence = .notInstalled
        }
        #expect(absent?.remedy == "Start localauth-passcode.")
        let resting = check("passcode") {
            $0.facts.passcode = .unknown
            $0.verifierAbsence = .resting
        }
        #expect(resting?.message.contains("within a minute") == true)
        #expect(resting?.remedy.contains("journalctl") == true)
        #expect(check("passcode")?.remedy == "Set one with passwd.")
        #expect(check("enrolment")?.remedy == "Run localauthctl enroll.")
    }

    @Test("fprintd missing")
    func fprintd() {
        #expect(check("fprintd") == nil)
        let missing = check("fprintd") { $0.hasFprintd = false }
        #expect(missing?.state == .failed)
        #expect(missing?.remedy == "Install the package fprintd.")
    }

    @Test("The face sensor's models missing")
    func models() {
        let missing = check("sensor Face") {
            $0.sensors = [
                .init(
                    name: "Face",
                    unavailability: .failed,
                    health: .init(state: .failed, message: "The models are missing.")
                )
            ]
        }
        #expect(missing?.state == .failed)
        #expect(missing?.message.contains("The models are missing.") == true)
        #expect(missing?.remedy.contains("--models") == true)
    }

    @Test("A degraded sensor is a warning in its own words; one that can't be used names why")
    func sensors() {
        let degraded = check("sensor A") {
            $0.sensors = [.init(name: "A", health: .init(state: .degraded, message: "Clean it."))]
        }
        #expect(degraded?.state == .warning)
        #expect(degraded?.message.contains("Clean it.") == true)
        let faults: [Unavailability] = [
            .crashed, .failed, .incompatible, .untrusted,
        ]
        for reason in faults {
            let check = check("sensor A") {
                $0.sensors = [.init(name: "A", unavailability: reason)]
            }
            #expect(check?.state == .failed)
            #expect(check?.message.contains(reason.rawValue) == true)
        }
        let states: [Unavailability] = [.lidClosed, .suspended, .remoteSession]
        for reason in states {
            let check = check("sensor A") {
                $0.sensors = [.init(name: "A", unavailability: reason)]
            }
            #expect(check?.state == .warning)
        }
    }

    @Test("A machine without a camera is not broken; a sensor that fails is")
    func noHardware() {
        let degraded = Diagnosis.Health(state: .degraded, message: "There is no camera.")
        let healths: [Diagnosis.Health?] = [
            nil, degraded, Diagnosis.Health(state: .ok, message: ""),
        ]
        for health in healths {
            let absent = check("sensor Face") {
                $0.sensors = [.init(name: "Face", unavailability: .noHardware, health: health)]
            }
            #expect(absent?.state == .ok)
            #expect(absent?.remedy == "")
        }
        let failed = check("sensor Face") {
            let health = Diagnosis.Health(state: .failed, message: "fprintd is missing.")
            $0.sensors = [.init(name: "Face", unavailability: .noHardware, health: health)]
        }
        #expect(failed?.state == .failed)
        #expect(failed?.message.contains("fprintd is missing.") == true)
    }

    @Test("Bus policy missing")
    func policy() throws {
        #expect(check("policy") == nil)
        let missing = check("policy") { $0.hasPolicy = false }
        #expect(missing?.state == .failed)
        #expect(missing?.message.contains("org.localauth.Authentication1.conf") == true)
        let folder = try TemporaryFolder()
        #expect(!BusPolicy.isInstalled(in: [folder.path, folder.path + "/none"]))
        try folder.write(BusPolicy.file, [])
        #expect(BusPolicy.isInstalled(in: [folder.path + "/none", folder.path]))
    }

    @Test("Lid closed, remote session, no session")
    func places() {
        #expect(check("lid") == nil)
        #expect(check("lid") { $0.isLidClosed = true }?.remedy.hasPrefix("Open the lid") == true)
        let remote = check("session") {
            $0.facts.isRemote = true
            $0.facts.session = "c2"
        }
        #expect(remote?.state == .warning)
        #expect(remote?.message.contains("remote session") == true)
        let remedies = Absence.allCases.map { absence in
            check("session") { $0.facts.absence = absence }?.remedy ?? ""
        }
        // Each has one of its own.
        #expect(Set(remedies).count == Absence.allCases.count)
        #expect(check("agent") { $0.absence = .locked } == nil)
    }

    @Test("Locked out, and until when")
    func lockedOut() {
        let locked = check("biometry") {
            $0.refusal = Refusal(.biometryLockout, "Biometry is locked.")
        }
        #expect(locked?.remedy.hasPrefix("Give your password") == true)
        let both = check("biometry") {
            $0.refusal = Refusal(.biometryLockout, "Biometry is locked.")
            $0.delay = .init(left: .seconds(240), until: "14:32")
        }
        #expect(both?.remedy.hasPrefix("Wait until 14:32, then give your password") == true)
        let delay = check("passcode-delay") {
            $0.delay = .init(left: .seconds(240), until: "14:32")
        }
        #expect(delay?.message.contains("for 4 minutes, until 14:32") == true)
        #expect(check("passcode-delay") == nil)
    }

    @Test("No journal, a damaged database")
    func storage() {
        #expect(check("journal") { $0.hasJournal = false }?.state == .warning)
        #expect(
            check("state") { $0.setAside = "/var/old.db" }?.message.contains("/var/old.db") == true
        )
    }

    @Test("The keychain: where its key is, or what keeps it shut")
    func keychain() {
        #expect(check("keychain") == nil)
        for (isCredential, end) in [(true, "is a credential."), (false, "is in a file.")] {
            let open = check("keychain") {
                $0.keychain = .open(key: "0123abcd", isCredential: isCredential, items: 7)
            }
            #expect(open?.state == .ok)
            #expect(open?.message == "Keychain items of yours: 7; the key 0123abcd " + end)
        }
        let shut = check("keychain") {
            $0.keychain = .refused(message: "It is full.", needsMasterKey: false)
        }
        #expect(shut?.state == .failed && shut?.message == "It is full.")
    }

    @Test("Diagnose asks the sensors, and finds what the bus knows", .timeLimit(.minutes(1)))
    func onBus() async throws {
        try await AuditBench.run { bench in
            let (sensor, _) = try await bench.sensor(for: getuid())
            sensor.state = "degraded"
            try await bench.manager().monitor(options: [:])
            let checks = try await bench.manager().diagnose()
            func state(_ name: String) -> String? {
                checks.first { $0["name"] == .string(name) }?["state"]?.asString
            }
            #expect(state("sensor Third") == "warning")
            #expect(state("agent") == "failed")
            #expect(state("journal") == "ok")
            #expect(state("session") == "ok")
            #expect(state("policy") == nil && state("lid") == nil && state("fprintd") == nil)
            #expect(await bench.service.isKnown("org.localauth.Sensor1.Third"))
            #expect(await !bench.service.isKnown("net.reactivated.Fprint"))
        }
    }
}
