import AuthEngine
import DBus
import Foundation
import LocalAuthBus
import TestSupport
import Testing

@testable import AuthService

@Suite("Checks of the diagnosis")
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

    @Test("On a healthy system every check is ok without a remedy")
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

    @Test("L16: In an X11 session the diagnosis warns that other programs can read keys")
    func display() {
        #expect(check("display") == nil)
        #expect(check("display") { $0.isX11 = true }?.state == .warning)
    }

    @Test("A missing agent, sensor, verifier or password is reported")
    func nothing() {
        #expect(check("agent")?.remedy.contains("localauthctl agent") == true)
        #expect(check("sensors")?.state == .warning)
        let absent = check("passcode") {
            $0.facts.passcode = .unknown
            $0.verifierAbsence = .notInstalled
        }
        #expect(absent?.remedy == "Start localauth-passcode.")
        #expect(check("passcode")?.remedy == "Set a password with passwd.")
        #expect(check("enrolment")?.remedy == "Run localauthctl enroll.")
    }

    @Test("L26: A starting or resting verifier is reported with its state")
    func absentVerifier() {
        let absences: [(PasscodeVerifier.Absence, message: String, remedy: String)] = [
            (.starting, "is still starting", "Ask again in a moment"),
            (.notStarting(reason: "It ended."), "can't be started: It ended.", "journalctl"),
            (.resting, "failed several times. The service starts it again", "journalctl"),
        ]
        for (absence, message, remedy) in absences {
            let told = check("passcode") {
                $0.facts.passcode = .unknown
                $0.verifierAbsence = absence
            }
            #expect(told?.state == .failed)
            #expect(told?.message.contains(message) == true, "\(absence)")
            #expect(told?.remedy.contains(remedy) == true, "\(absence)")
        }
    }

    @Test("A missing fprintd is reported")
    func fprintd() {
        #expect(check("fprintd") == nil)
        let missing = check("fprintd") { $0.hasFprintd = false }
        #expect(missing?.state == .failed)
        #expect(missing?.remedy == "Install the package fprintd.")
    }

    @Test("Missing models of the face sensor are reported")
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

    @Test("A degraded sensor is a warning in its own words, an unusable sensor names why")
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

    @Test("A machine without a camera is ok, a failed sensor is not")
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

    @Test("A missing device is a warning only for users with templates on it")
    func deviceOfMine() {
        let mine = check("sensor Face") {
            $0.sensors = [.init(name: "Face", unavailability: .noHardware, templates: 1)]
        }
        #expect(mine?.state == .warning)
        #expect(mine?.remedy.hasPrefix("Plug the device in") == true)
    }

    @Test("A sensor's last refusal is reported while its health is ok, but not otherwise")
    func complaint() {
        let complaint = "The camera gives no pictures."
        let check = { (health: Diagnosis.Health?, reason: Unavailability?) in
            self.check("sensor Face") {
                $0.sensors = [
                    .init(
                        name: "Face",
                        unavailability: reason,
                        health: health,
                        complaint: complaint
                    )
                ]
            }
        }
        for health in [nil, Diagnosis.Health(state: .ok, message: "")] {
            let said = check(health, nil)
            #expect(said?.state == .warning)
            #expect(said?.message.hasSuffix(complaint) == true)
            #expect(said?.remedy.contains("shutter") == true)
        }
        let other = check(.init(state: .degraded, message: "Clean it."), nil)
        #expect(other?.message.contains("Clean it.") == true)
        #expect(check(nil, .crashed)?.message.contains("crashed") == true)
    }

    /// Messages of sensors, and a part of the expected remedy.
    static let remedies = [
        (
            "The user was enrolled with another camera (usb 046d:085c - at a); this one is b.",
            "enroll"
        ),
        ("The device is in use by zoom.", "Close that program"),
        ("The device is in use by another program.", "Close that program"),
        ("Another program uses the fingerprint reader.", "Close that program"),
        ("The camera takes no pictures, or can't stream them.", "--camera"),
        ("The device takes no pictures, or can't stream them.", "--camera"),
        ("/dev/video0 is no video device.", "--camera"),
        ("The kernel knows no video device video9.", "--camera"),
        ("/dev/video0 is a virtual camera, so another program decides its picture.", "--camera"),
        ("/dev/video0 is no USB camera and has no identity to remember.", "Connect a USB camera"),
        ("/dev/video0 doesn't say which USB device it is.", "Connect a USB camera"),
        ("/dev/video0 has no name in /dev/v4l/by-path: is udev running?", "Start udev"),
        ("/dev/video0 gives colours, so it is no infrared camera.", "--infrared"),
        ("The camera can't be opened: Permission denied.", "group video"),
        ("The camera gives no pictures.", "shutter"),
        ("The camera gives only broken pictures.", "shutter"),
        ("The camera gives 1 buffers.", "cable"),
        ("The camera has none of the formats YUYV, NV12, I420, MJPG and GREY.", "Use a camera"),
        ("The camera gives another format than it was asked for.", "Use a camera"),
        ("The camera gives pictures of 8x8 pixels.", "Use a camera"),
        ("The hook ended with status 3.", "--pre-open-hook"),
        ("The face models are missing in /var/lib/localauth-face/models.", "--models"),
        ("The face models are damaged.", "--models"),
        ("A template is damaged or not this user's: /s/1-2.face. Remove it.", "that template"),
        ("The key /s/face.key is missing. Restore it.", "Restore that key"),
        (
            "A credential is damaged: x. Remove it and enrol the security key again.",
            "Remove that template"
        ),
        ("The security key asks for its PIN, which is not supported.", "Try again"),
        ("The key /s/face.key must have 32 bytes.", "Restore that key"),
        ("PipeWire doesn't answer at /run/localauth-pipewire/pipewire-0.", "Set up PipeWire"),
        ("PipeWire has no camera that is called CAMERA.", "Set up PipeWire"),
        ("No fingerprint reader is connected.", "Plug the device in"),
        ("The fingerprint reader is not connected.", "Plug the device in"),
        ("fprintd ended, or can't be started: is it installed?", "Install the package fprintd"),
        ("fprintd does not answer.", "journalctl -u fprintd"),
        ("fprintd refused: No such thing", "journalctl -u fprintd"),
        ("fprintd could not enrol the finger.", "journalctl -u fprintd"),
        ("fprintd keeps the reader open since a suspend; it recovers.", "half a minute"),
        ("polkit doesn't let the fingerprint sensor do that.", "50-localauth-fingerprint.rules"),
        ("The fingerprint reader failed several times: unplug it.", "Unplug the reader"),
        // Messages without a known remedy.
        (
            "The camera refuses its buffers: Input/output error.",
            "journalctl -u localauth-sensor-face"
        ),
        ("There is no account with the uid 7.", "journalctl -u localauth-sensor-face"),
    ]

    @Test("Each message of a sensor has a suitable remedy", arguments: remedies)
    func remedy(_ sentence: String, _ part: String) {
        let remedy = Diagnosis.remedy(forHealth: sentence, of: "Face").text
        #expect(remedy.contains(part), "\(remedy)")
    }

    @Test("A check sends its sentence whole, and for translators with the values apart")
    func wire() {
        let wire = check("passcode-delay") {
            $0.delay = Diagnosis.Delay(left: .seconds(200), until: "14:32")
        }?
        .wire
        let format = "After too many wrong passwords, you cannot enter a password for "
        #expect(wire?["message"] == .string(format + "4 minutes, until 14:32."))
        #expect(wire?["message-format"] == .string(format + "%1$s, until %2$s."))
        #expect(wire?["message-values"] == .strings(["4 minutes", "14:32"]))
        #expect(wire?["remedy-format"] == .string("Wait until %1$s."))
        // A sensor's own words are a value as a whole.
        let sensor = Diagnosis.Sensor(name: "Face", description: "A camera, 100 %1$s")
        let own = check("sensor Face") { $0.sensors = [sensor] }?.wire
        #expect(own?["message-format"] == .string("%1$s"))
        #expect(own?["message-values"] == .strings(["A camera, 100 %1$s"]))
    }

    @Test("On a desktop the remedy for a missing agent is a new login, not a terminal agent")
    func desktop() {
        for absence in [Absence.noAgent, .noAgentThere] {
            let check = { (isDesktop: Bool) in
                self.check("agent") {
                    $0.absence = absence
                    $0.isDesktop = isDesktop
                }
            }
            #expect(check(true)?.remedy.hasPrefix("Log out and in again") == true)
            #expect(check(false)?.remedy.contains("localauthctl agent") == true)
        }
    }

    @Test("A sensor's refusal is reported until it works again, even across its restarts")
    func refused() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            func finding() async throws -> [String: Variant]? {
                try await bench.manager(person.connection).diagnose()
                    .first { $0["name"] == .string("sensor Third") }
            }
            let failing = try bench.begin(person.connection)
            try await sensor.operation()
                .fail(.sensorFailed, "The camera \u{202E}gives no pictures.")
            await #expect(throws: DBusError.self) { _ = try await failing.reply() }
            let said = try await finding()
            #expect(said?["state"] == .string("warning"))
            let message = said?["message"]?.asString
            #expect(message?.hasSuffix(": The camera gives no pictures.") == true)
            let evaluation = bench.evaluate(person)
            try await sensor.operation(1).succeed(template)
            _ = try await evaluation.value()
            #expect(try await finding()?["state"] == .string("ok"))
        }
    }

    @Test("A missing bus policy is reported")
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

    @Test("A closed lid, a remote session and a missing session are reported")
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
        // Each absence has its own remedy.
        #expect(Set(remedies).count == Absence.allCases.count)
        #expect(check("agent") { $0.absence = .locked } == nil)
    }

    @Test("A lockout is reported with its end")
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

    @Test("A missing journal and a damaged database are reported")
    func storage() {
        #expect(check("journal") { $0.hasJournal = false }?.state == .warning)
        #expect(
            check("state") { $0.setAside = "/var/old.db" }?.message.contains("/var/old.db") == true
        )
    }

    @Test("The keychain's key and its obstacles are reported")
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
        let container = check("keychain") {
            $0.keychain = .refused(message: "No key.", needsMasterKey: true)
            $0.takesCredentials = false
        }
        #expect(container?.remedy.contains("clears LoadCredential=") == true)
    }

    @Test("Diagnose queries the sensors and the bus", .timeLimit(.minutes(10)))
    func onBus() async throws {
        try await AuditBench.run { bench in
            let (sensor, _) = try await bench.sensor(for: getuid())
            sensor.state = "degraded"
            try await bench.manager().monitor(options: [:])
            let checks = try await bench.manager().diagnose()
            func state(_ name: String) -> String? {
                checks.first { $0["name"] == .string(name) }?["state"]?.asString
            }
            #expect(checks.contains { $0["message"] == .string("Connections that watch: 1.") })
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
