import CameraDevice
import FaceSensor
import ServiceProgram

/// Puts the scanner together: engine, hook, camera or replay.
struct FaceWorkshop {
    private let settings: FaceSettings

    init(_ settings: FaceSettings) { self.settings = settings }

    func scanner() throws(FaceFault) -> Scanner {
        let settings = settings
        return try Scanner(
            threshold: settings.threshold,
            asksForLife: settings.isInfrared,
            eye: { () throws(FaceFault) in
                let engine = try FaceEngine(models: settings.models, state: settings.state)
                return { engine.look($0) }
            },
            camera: { interruption throws(CameraFault) in try settings.open(interruption) }
        )
    }
}

extension FaceSettings {
    /// What people read of the sensor.
    var description: String {
        switch source {
        case .camera: isInfrared ? "Face, infrared camera" : "Face, camera"
        case .replay: "Face, replay of pictures: proves nothing about anybody"
        }
    }

    /// The camera that is meant, now; a replay has no device.
    func camera() throws(CameraFault) -> (device: String?, identity: CameraIdentity) {
        switch source {
        case .replay: return (nil, .replay)
        case .camera(let device?): return (device, try CameraIdentity(of: device))
        case .camera(nil):
            guard let device = CameraIdentity.cameras().first else { throw .disconnected }
            return (device, try CameraIdentity(of: device))
        }
    }

    /// Opens it, after the hook.
    func open(_ interruption: Interruption) throws(CameraFault) -> any FrameSource {
        if case .replay(let file) = source { return try ReplaySource(path: file) }
        guard let device = try camera().device else { throw .disconnected }
        try hook?.run(device, interruption)
        let camera = try V4L2Source(path: device)
        guard !isInfrared || camera.format == .grey else {
            throw .untrusted("\(device) is no infrared camera: it gives colours.")
        }
        return camera
    }

    /// Whether the sensor can be used; an empty message: yes.
    func availability(
        _ engineFault: FaceFault?
    ) -> (isPresent: Bool, unavailability: String, message: String) {
        guard FaceEngine.isBuilt else { return (true, "failed", FaceEngine.notBuilt) }
        do throws(CameraFault) {
            _ = try camera()
        } catch {
            switch error {
            case .untrusted(let message): return (true, "untrusted", message)
            default: return (false, "no-hardware", "There is no camera.")
            }
        }
        guard models.areThere else {
            let message = "The face models are missing in \(models.folder). \(FaceModels.remedy)"
            return (true, "failed", message)
        }
        if case .failed(let message)? = engineFault { return (true, "failed", message) }
        return (true, "", "")
    }
}

extension StartError {
    /// Why the sensor can't start at all.
    init(_ fault: FaceFault) {
        if case .failed(let message) = fault { self.init(message) } else { self.init("\(fault)") }
    }
}
