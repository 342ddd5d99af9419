import CameraDevice
import DBus
import FaceSensor
import Glibc
import LocalAuthBus
import PipeWireCamera
import SensorKit
import ServiceProgram

@BusActor final class FaceDriver: Sensor {
    let name = "Face"
    private(set) var properties: SensorProperties
    private(set) var health = SensorHealth.ok
    let settings: FaceSettings
    let scanner: Scanner
    private let host: SensorHost
    private var openStore: TemplateStore?
    private var watch: FolderWatch?
    private var presence: PipeWirePresence?
    private var unusable = TemplateStore.Unusable()
    /// Why the engine could not load the models that have this stamp.
    private var engineFault: (fault: FaceFault, stamp: [Int])?
    private var isWarm = false

    init(host: SensorHost, settings: FaceSettings) async throws {
        self.host = host
        self.settings = settings
        do throws(FaceFault) {
            scanner = try FaceWorkshop(settings).scanner()
        } catch {
            throw StartError(error)
        }
        properties = SensorProperties(
            description: settings.description,
            biometryType: .face,
            strength: settings.strength
        )
        properties.enrollStages = Int32(Enrolment.stages)
        properties.maximumTemplates = UInt32(TemplateStore.maximum)
        unusable = (try? await store().unusable()) ?? .init()
        if let address = settings.pipeWire {
            presence = PipeWirePresence(address) { [weak self] in self?.refresh() }
            await presence?.settle()
        }
        refresh()
        let folder = settings.models.folder
        // The models' folder may not exist yet, and udev names a camera only after creating its
        // node.
        let above = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "."
        let camera = settings.pipeWire.map { [$0.folder] } ?? ["/dev", "/dev/v4l/by-path"]
        watch = FolderWatch([settings.state, above, folder], devices: camera) { [weak self] in
            self?.presence?.lookAgain()
            self?.refresh()
            self?.lookAtTemplates()
        }
    }

    /// Opens the templates.
    ///
    /// A missing key may be restored while the sensor runs, so each call tries again until it
    /// succeeds.
    func store() throws(FaceFault) -> TemplateStore {
        if let openStore { return openStore }
        let store = try TemplateStore(folder: settings.state)
        openStore = store
        return store
    }

    private var storeFault: FaceFault? {
        do throws(FaceFault) {
            _ = try store()
            return nil
        } catch {
            return error
        }
    }

    func refresh() {
        let fault = storeFault ?? settings.models.fault ?? engineFault?.fault
        let state = settings.availability(fault, absence: presence?.absence) {
            () throws(CameraFault) in try identity()
        }
        properties.isPresent = state.isPresent
        properties.unavailability = state.unavailability
        // Query the camera until it has answered once, but never during a capture.
        if !state.isPresent || properties.strength != .strong {
            properties.strength = settings.strength
        }
        health =
            switch state.unavailability {
            case nil: damage
            // Many machines have no camera, so its absence is a failure only for a configured
            // camera.
            case .noHardware where presence == nil: .degraded(state.message)
            default: .failed(state.message)
            }
        host.propertiesChanged()
        // Retry failed models only after their files change.
        let stamp = settings.models.stamp
        // The engine is needed only with a usable camera.
        let mayLook = state.isPresent && state.unavailability != .untrusted
        if mayLook, settings.models.fault == nil, engineFault?.stamp != stamp { warmUp() }
    }

    /// The identity of the present camera, preferably of the given `names`.
    func identity(of names: [String] = []) throws(CameraFault) -> CameraIdentity {
        if let presence { return try presence.identity() }
        let camera = try settings.camera { camera in
            names.contains { CameraIdentity.isSame($0, as: camera.description) }
        }
        return camera.identity
    }

    private var damage: SensorHealth {
        func some(_ paths: [String]) -> String { paths.prefix(3).joined(separator: ", ") }
        if !unusable.refused.isEmpty {
            return .degraded(
                "A template has a wrong owner or mode, so it is not used: "
                    + "\(some(unusable.refused)). Give the file the owner \(geteuid()) and the mode "
                    + "0600, or remove the template."
            )
        }
        if !unusable.indistinct.isEmpty {
            return .degraded(
                "A template is not used, because its face is too much like other people's: "
                    + "\(some(unusable.indistinct)). Remove it."
            )
        }
        guard !unusable.damaged.isEmpty else { return .ok }
        return .degraded(
            "A template is damaged or can't be read: \(some(unusable.damaged)). Mend it, or remove "
                + "it and enrol again."
        )
    }

    /// Reports templates that another program added, removed or damaged.
    private func lookAtTemplates() {
        onLoop {
            for user in (try? await self.store().changedUsers()) ?? [] {
                self.host.templatesChanged(of: user)
            }
            await self.lookForDamage()
        }
    }

    private func lookForDamage() async {
        unusable = (try? await store().unusable()) ?? .init()
        refresh()
    }

    /// Loads the engine in advance, so that the first operation is fast.
    private func warmUp() {
        guard !isWarm else { return }
        isWarm = true
        let stamp = settings.models.stamp
        onLoop {
            do throws(FaceFault) {
                try await self.scanner.warmUp()
                self.engineFault = nil
            } catch {
                self.engineFault = (error, stamp)
                self.isWarm = false
            }
            self.refresh()
        }
    }

    // MARK: Templates

    func templates(of user: UInt32) async throws(SensorFault) -> [Template] {
        do throws(SensorFault) {
            return try await faults { () async throws(FaceFault) in
                try await self.store().entries(of: user)
            }
            .map { Template(id: $0.id, label: $0.label, created: $0.created) }
        } catch {
            // Update the health before the caller reads it.
            await lookForDamage()
            throw error
        }
    }

    func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault) {
        try await faults { () async throws(FaceFault) in
            try await self.store().rename(id, of: user, to: label)
        }
    }

    func remove(_ id: String, of user: UInt32) async throws(SensorFault) {
        try await faults { () async throws(FaceFault) in
            try await self.store().remove(id, of: user)
        }
    }

    func templateUpdates(of user: UInt32) async throws(SensorFault) -> [LearnedEntry] {
        try await faults { () async throws(FaceFault) in
            try await self.store().templateUpdates(of: user)
        }
        .map { LearnedEntry(id: $0.id, template: $0.template, learned: $0.time) }
    }

    func removeTemplateUpdate(_ id: String, of user: UInt32) async throws(SensorFault) {
        try await faults { () async throws(FaceFault) in
            try await self.store().removeTemplateUpdate(id, of: user)
        }
    }

    func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32 {
        try await faults { () async throws(FaceFault) in try await self.store().removeAll(of: user)
        }
    }
}
