import CameraDevice
import DBus
import FaceSensor
import LocalAuthBus
import SensorKit
import ServiceProgram

/// The face sensor: what it is at this moment, and its templates.
@BusActor final class FaceDriver: Sensor {
    let name = "Face"
    private(set) var properties: SensorProperties
    private(set) var health = SensorHealth.ok
    let settings: FaceSettings
    let store: TemplateStore
    let scanner: Scanner
    private let host: SensorHost
    private var watch: FolderWatch?
    private var engineFault: FaceFault?

    init(host: SensorHost, settings: FaceSettings) async throws {
        self.host = host
        self.settings = settings
        do throws(FaceFault) {
            store = try TemplateStore(folder: settings.state)
            scanner = try FaceWorkshop(settings).scanner()
        } catch {
            throw StartError(error)
        }
        properties = SensorProperties(
            description: settings.description,
            biometryType: .face,
            strength: settings.isInfrared ? .strong : .convenience
        )
        properties.enrollStages = Int32(Enrolment.stages)
        properties.maximumTemplates = UInt32(TemplateStore.maximum)
        refresh()
        watch = FolderWatch([settings.state, settings.models.folder, "/dev"]) { [weak self] in
            self?.refresh()
        }
    }

    /// Looks again whether there is a camera, and whether the models are there.
    func refresh() {
        let state = settings.availability(engineFault)
        properties.isPresent = state.isPresent
        properties.unavailability = state.unavailability
        health = state.message.isEmpty ? .ok : .failed(state.message)
        host.propertiesChanged()
        if state.message.isEmpty { warmUp() }
    }

    /// Loads the engine while nobody waits for it.
    private func warmUp() {
        guard !isWarm else { return }
        isWarm = true
        onLoop {
            do throws(FaceFault) {
                try await self.scanner.warmUp()
            } catch {
                self.engineFault = error
                self.refresh()
                // The next change of a folder may be the remedy.
                self.engineFault = nil
                self.isWarm = false
            }
        }
    }
    private var isWarm = false

    // MARK: Templates

    func templates(of user: UInt32) async throws(SensorFault) -> [Template] {
        try await faults { () async throws(FaceFault) in try await self.store.entries(of: user) }
            .map { Template(id: $0.id, label: $0.label, created: $0.created) }
    }

    func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault) {
        try await faults { () async throws(FaceFault) in
            try await self.store.rename(id, of: user, to: label)
        }
    }

    func remove(_ id: String, of user: UInt32) async throws(SensorFault) {
        try await faults { () async throws(FaceFault) in
            try await self.store.remove(id, of: user)
        }
    }

    func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32 {
        try await faults { () async throws(FaceFault) in try await self.store.removeAll(of: user) }
    }
}
