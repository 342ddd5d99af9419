#if Prompt
import AgentKit
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Passkeys
import Windows

/// The service's sensors, templates and problems, for a window that follows them.
@BusActor final class Settings {
    struct Entry: Hashable {
        let sensor: RemoteSensor
        let template: Template
        /// An addition that the sensor made by itself; nil for the template itself.
        var learned: LearnedEntry?
        /// The template's name, made safe to display.
        var label: String { plainText(template.label, limit: 128) }
        /// The name in lists and prompts.
        var title: String {
            let name = label.isEmpty ? localized("Without a name") : label
            return learned == nil ? name : localized("Automatic addition to %1$s", name)
        }
    }

    struct Content: Hashable {
        var isServiceThere = false
        /// Sensors with a device.
        var sensors: [RemoteSensor] = []
        var entries: [Entry] = []
        /// The newest first.
        var passkeys: [StoredPasskey] = []
        var problems: [Problem] = []
    }

    private(set) var content = Content()
    var changed: @BusActor () -> Void = {}
    /// Called after each read of the service, even without a change.
    var loaded: @BusActor () -> Void = {}
    /// Called with an error as a sentence; nil clears the last error.
    var onError: @BusActor (String?) -> Void = { _ in }

    /// The parent of prompts; nil without a window.
    var window: String?

    /// Any program of the user may store items, and a window has no room for all.
    private static let mostPasskeys = 500

    private let connection: Connection
    private var service: RemoteService?
    private var watch: EventSource?
    private var signals: [EventSource] = []
    private var isLoading = false
    private var isStale = false
    private var needsDiagnosis = true

    init(_ connection: Connection) { self.connection = connection }

    /// Follows the service, and starts it if the bus can.
    func start() {
        watch = connection.watchName(Authentication1.busName) { [weak self] owner in
            self?.ownerChanged(owner)
        }
    }

    func stop() {
        watch?.cancel()
        watch = nil
        for signal in signals { signal.cancel() }
        signals = []
    }

    private func ownerChanged(_ owner: String?) {
        for signal in signals { signal.cancel() }
        signals = []
        guard let owner else {
            service = nil
            onLoop { [weak self] in await self?.find() }
            return
        }
        service = RemoteService(connection, owner: owner)
        onError(nil)
        follow(owner)
        checkAgain()
    }

    /// Starts the service if the bus can; the watch of its name then reports the owner.
    private func find() async {
        do throws(DBusError) {
            let found = try await RemoteService.find(on: connection)
            guard found == nil, service == nil else { return }
            content = Content()
            changed()
        } catch {
            onError(Self.sentence(error))
        }
        loaded()
    }

    private func follow(_ owner: String) {
        let objects = "org.freedesktop.DBus.ObjectManager"
        for (interface, member) in [
            (objects, "InterfacesAdded"), (objects, "InterfacesRemoved"),
            ("org.freedesktop.DBus.Properties", "PropertiesChanged"),
        ] {
            signals.append(
                connection.subscribe(
                    sender: owner,
                    path: nil,
                    interface: interface,
                    member: member,
                    broadcast: true
                ) { [weak self] message in
                    // This object's signals also say whether an agent is registered.
                    if message.path == Authentication1.path.rawValue { self?.needsDiagnosis = true }
                    self?.load()
                }
            )
        }
    }

    // MARK: Reading

    /// Reads everything again, including the diagnosis.
    func checkAgain() {
        guard service != nil else {
            onLoop { [weak self] in await self?.find() }
            return
        }
        needsDiagnosis = true
        load()
    }

    private func load() {
        guard !isLoading else {
            isStale = true
            return
        }
        isLoading = true
        onLoop { [weak self] in await self?.loadAll() }
    }

    private func loadAll() async {
        repeat {
            isStale = false
            guard let service else { break }
            do throws(DBusError) {
                let new = try await read(service)
                guard new != content else { continue }
                content = new
                changed()
            } catch {
                onError(Self.sentence(error))
            }
        } while isStale
        isLoading = false
        loaded()
    }

    private func read(_ service: RemoteService) async throws(DBusError) -> Content {
        var new = Content(isServiceThere: true, problems: content.problems)
        new.sensors = try await service.sensors().map(\.plain)
            .filter { Unavailability(rawValue: $0.unavailability) != .noHardware }
        for sensor in new.sensors {
            let device = service.device(at: sensor.path)
            do throws(DBusError) {
                let templates = try await device.listTemplates(options: [:])
                let learned =
                    templates.isEmpty ? [] : try await device.listLearned(options: [:])
                for template in templates {
                    new.entries.append(Entry(sensor: sensor, template: template))
                    for entry in learned where entry.template == template.id {
                        new.entries.append(
                            Entry(sensor: sensor, template: template, learned: entry)
                        )
                    }
                }
            } catch {
                // An unusable sensor lists no templates, so its error is expected.
                guard !sensor.isAvailable else { throw error }
            }
        }
        // A problem of the keychain has a row of its own.
        let items = (try? await service.search(Passkey.query)) ?? []
        new.passkeys = items.compactMap(StoredPasskey.init).suffix(Self.mostPasskeys).reversed()
        if needsDiagnosis || new.sensors != content.sensors {
            needsDiagnosis = false
            let policy = AuthenticationPolicy.biometrics.rawValue
            let code = try await service.manager.canEvaluate(policy: policy).code
            let needsPassword = code == RefusalCode.biometryLockout.rawValue
            new.problems = try await service.diagnose().map(DiagnosisLine.init)
                .compactMap { Problem($0, needsPassword: needsPassword) }
        }
        return new
    }

    // MARK: Changing

    /// Options that attach a prompt to the window and give it the focus.
    private var promptOptions: [String: Variant] {
        var options: [String: Variant] = [:]
        options["parent-window"] = window.map(Variant.string)
        options["activation-token"] = Display.activationToken().map(Variant.string)
        return options
    }

    func enroll(_ sensor: RemoteSensor, label: String) throws(DBusError) -> StreamingCall<String> {
        try device(sensor).enrollStream(label: label, options: promptOptions)
    }

    func cancelEnrollment(_ sensor: RemoteSensor) {
        (try? device(sensor))?.sendCancelEnroll()
    }

    func rename(_ entry: Entry, _ label: String) {
        change { settings throws(DBusError) in
            try await settings.device(entry.sensor)
                .renameTemplate(id: entry.template.id, label: label, options: [:])
        }
    }

    func remove(_ entry: Entry) {
        change { settings throws(DBusError) in
            let device = try settings.device(entry.sensor)
            if let learned = entry.learned {
                try await device.removeLearned(
                    id: learned.id,
                    options: settings.promptOptions
                )
            } else {
                try await device.removeTemplate(
                    id: entry.template.id,
                    options: settings.promptOptions
                )
            }
        }
    }

    func removeAll(from sensor: RemoteSensor) {
        change { settings throws(DBusError) in
            let device = try settings.device(sensor)
            _ = try await device.removeAllTemplates(options: settings.promptOptions)
        }
    }

    func remove(_ stored: StoredPasskey) {
        change { settings throws(DBusError) in
            let service = try settings.reached()
            let keys = try await service.search(stored.passkey.keyQuery)
            _ = try await service.keychain.delete(
                ids: [stored.id] + keys.compactMap { $0["id"]?.asString }
            )
        }
    }

    /// Evaluates biometrics or the password, as an app does.
    ///
    /// - Returns: The outcome as a sentence.
    func evaluate(
        _ reason: String,
        _ progress: @escaping @BusActor (String) -> Void
    ) async -> String {
        do throws(DBusError) {
            let call = try reached().manager
                .evaluateStream(
                    policy: AuthenticationPolicy.biometricsOrPasscode.rawValue,
                    reason: reason,
                    options: promptOptions
                )
            onLoop {
                for await event in call.events {
                    let step = PromptProgress(kind: event.kind, detail: event.detail)
                    if let words = step.flatMap(PromptText.sentence) { progress(Self.plain(words)) }
                }
            }
            let result = try await call.reply()
            if Mechanism(rawValue: result["mechanism"]?.asString ?? "") == .passcode {
                return localized("Your password was accepted.")
            }
            let sensor = content.sensors.first { $0.name == result["sensor"]?.asString }
            return sensor.map { localized("%1$s recognized you.", $0.title) }
                ?? localized("You were recognized.")
        } catch {
            return Self.sentence(error)
        }
    }

    private func change(
        _ body: @escaping @BusActor (Settings) async throws(DBusError) -> Void
    ) {
        onError(nil)
        onLoop { [weak self] in
            guard let self else { return }
            do throws(DBusError) {
                try await body(self)
            } catch {
                onError(Self.sentence(error))
            }
            checkAgain()
        }
    }

    private func device(_ sensor: RemoteSensor) throws(DBusError) -> Device1Proxy {
        try reached().device(at: sensor.path)
    }

    private func reached() throws(DBusError) -> RemoteService {
        guard let service else {
            throw DBusError(.serviceUnknown, localized("The service is not on this bus."))
        }
        return service
    }

    /// An error's cause in the user's language.
    static func sentence(_ error: DBusError) -> String {
        guard SensorFailure(error.name) != .duplicate else {
            return localized("This was added already.")
        }
        return plain(serviceText(plainText(error.message, limit: 512)))
    }

    /// The sentence, unless it names a command.
    static func plain(_ words: String) -> String {
        guard words.contains("localauthctl") else { return words }
        return localized("The sensor does not work. “Problems” says why.")
    }
}
#endif
