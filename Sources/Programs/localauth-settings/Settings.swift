#if Prompt
import AgentKit
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization
import Windows

/// What the service knows about its sensors, for a window that follows it.
@BusActor final class Settings {
    /// What a sensor was taught.
    struct Lesson: Hashable {
        let sensor: RemoteSensor
        let template: Template
        /// What it learned of it since, by itself; nil: this is what it was taught.
        var learned: LearnedEntry?
        /// Its name as it may be shown.
        var label: String { plainText(template.label, limit: 128) }
    }

    /// What a window shows.
    struct Content: Hashable {
        var sensors: [RemoteSensor] = []
        var lessons: [Lesson] = []
        var findings: [Finding] = []
    }

    private(set) var content = Content()
    /// Called when `content` has changed.
    var changed: @BusActor () -> Void = {}
    /// Called with what went wrong; nil: nothing any more.
    var told: @BusActor (String?) -> Void = { _ in }

    /// What prompts are tied to; nil: no window is there.
    var window: String?

    private let connection: Connection
    private var service: RemoteService?
    private var watch: EventSource?
    private var signals: [EventSource] = []
    private var isLoading = false
    private var isStale = false
    private var needsDiagnosis = true

    init(_ connection: Connection) { self.connection = connection }

    /// Starts the service where the bus can, and follows it.
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
        told(nil)
        follow(owner)
        lookAgain()
    }

    /// The name is watched: one that can be started comes by itself after this.
    private func find() async {
        do throws(DBusError) {
            let found = try await RemoteService.find(on: connection)
            guard found == nil, service == nil else { return }
            told(localized("The service is not on this bus."))
        } catch {
            told(Self.sentence(error))
        }
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
                ) { [weak self] _ in self?.load() }
            )
        }
    }

    // MARK: Reading

    /// Reads everything again, the diagnosis too.
    func lookAgain() {
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
                told(Self.sentence(error))
            }
        } while isStale
        isLoading = false
    }

    private func read(_ service: RemoteService) async throws(DBusError) -> Content {
        var new = Content(findings: content.findings)
        new.sensors = try await service.sensors().map(\.plain)
        for sensor in new.sensors {
            let device = service.device(at: sensor.path)
            do throws(DBusError) {
                let templates = try await device.listTemplates(options: [:])
                let learned =
                    templates.isEmpty ? [] : try await device.listLearned(options: [:])
                for template in templates {
                    new.lessons.append(Lesson(sensor: sensor, template: template))
                    for entry in learned where entry.template == template.id {
                        new.lessons.append(
                            Lesson(sensor: sensor, template: template, learned: entry)
                        )
                    }
                }
            } catch {
                // One that can't be used has nothing to list.
                guard !sensor.isAvailable else { throw error }
            }
        }
        if needsDiagnosis {
            needsDiagnosis = false
            new.findings = try await service.manager.diagnose().map(Finding.init)
            new.findings += Finding.cameras()
        }
        return new
    }

    // MARK: Changing

    /// What a prompt belongs to the window by, and gets its focus by.
    private var promptOptions: [String: Variant] {
        var options: [String: Variant] = [:]
        options["parent-window"] = window.map(Variant.string)
        options["activation-token"] = Display.activationToken().map(Variant.string)
        return options
    }

    /// Has a sensor learn something new.
    func enroll(_ sensor: RemoteSensor, label: String) throws(DBusError) -> StreamingCall<String> {
        try device(sensor).enrollStream(label: label, options: promptOptions)
    }

    /// Ends what `enroll` has begun.
    func cancelEnrollment(_ sensor: RemoteSensor) {
        (try? device(sensor))?.sendCancelEnroll()
    }

    func rename(_ lesson: Lesson, _ label: String) {
        change { settings throws(DBusError) in
            try await settings.device(lesson.sensor)
                .renameTemplate(id: lesson.template.id, label: label, options: [:])
        }
    }

    func remove(_ lesson: Lesson) {
        change { settings throws(DBusError) in
            let device = try settings.device(lesson.sensor)
            if let learned = lesson.learned {
                try await device.removeLearned(
                    id: learned.id,
                    options: settings.promptOptions
                )
            } else {
                try await device.removeTemplate(
                    id: lesson.template.id,
                    options: settings.promptOptions
                )
            }
        }
    }

    /// Has a sensor forget everything that it knows of the person.
    func removeAll(from sensor: RemoteSensor) {
        change { settings throws(DBusError) in
            let device = try settings.device(sensor)
            _ = try await device.removeAllTemplates(options: settings.promptOptions)
        }
    }

    /// Asks who is there, as an app does.
    /// - Returns: how it ended, as a sentence.
    func test(_ progress: @escaping @BusActor (String) -> Void) async -> String {
        do throws(DBusError) {
            let call = try manager()
                .evaluateStream(
                    policy: AuthenticationPolicy.biometricsOrPasscode.rawValue,
                    reason: localized("test the sensors"),
                    options: promptOptions
                )
            onLoop {
                for await event in call.events {
                    let step = PromptProgress(kind: event.kind, detail: event.detail)
                    if let words = step.flatMap(PromptText.sentence) { progress(words) }
                }
            }
            return grantedSentence(try await call.reply())
        } catch {
            return Self.sentence(error)
        }
    }

    private func change(
        _ body: @escaping @BusActor (Settings) async throws(DBusError) -> Void
    ) {
        told(nil)
        onLoop { [weak self] in
            guard let self else { return }
            do throws(DBusError) {
                try await body(self)
            } catch {
                told(Self.sentence(error))
            }
            lookAgain()
        }
    }

    private func device(_ sensor: RemoteSensor) throws(DBusError) -> Device1Proxy {
        try reached().device(at: sensor.path)
    }

    private func manager() throws(DBusError) -> Authentication1Proxy { try reached().manager }

    private func reached() throws(DBusError) -> RemoteService {
        guard let service else {
            throw DBusError(.serviceUnknown, localized("The service is not on this bus."))
        }
        return service
    }

    /// Why something failed, in the user's language.
    static func sentence(_ error: DBusError) -> String {
        serviceText(plainText(error.message, limit: 512))
    }
}
#endif
