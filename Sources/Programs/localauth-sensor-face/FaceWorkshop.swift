import CameraDevice
import FaceSensor
import Linux
import LocalAuthBus
import SensorKit
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
            asksForAttention: settings.asksForAttention,
            eye: { () throws(FaceFault) in
                let engine = try FaceEngine(models: settings.models, state: settings.state)
                return { engine.look($0) }
            },
            camera: { expected, interruption throws(CameraFault) in
                try settings.open(expected, interruption)
            }
        )
    }
}

extension FaceSettings {
    /// The description that people see.
    var description: String {
        switch source {
        case .camera, .pipeWire: isInfrared ? "Face, infrared camera" : "Face, camera"
        case .replay: "Face, replay of pictures (proves no identity)"
        }
    }

    /// What of the camera is kept, and looked for, in a folder; nil: the kernel's devices.
    var pipeWire: PipeWireAddress? {
        if case .pipeWire(let address) = source { address } else { nil }
    }

    /// The camera that the settings name, unless PipeWire offers it; a replay has no device.
    ///
    /// Where they name none it is the first that is preferred, else the first: the kernel numbers a
    /// dock's camera before the machine's own in one boot, and after it in another.
    func camera(
        preferring isPreferred: (CameraIdentity) -> Bool = { _ in false }
    ) throws(CameraFault) -> (device: String?, identity: CameraIdentity) {
        switch source {
        case .replay: return (nil, .replay)
        case .pipeWire: throw .disconnected
        case .camera(let device?): return (device, try CameraIdentity(of: device))
        case .camera(nil):
            let camera = CameraIdentity.camera(
                where: { !isInfrared || (try? V4L2Source.isInfrared($0)) == true },
                preferring: isPreferred
            )
            guard let camera else { throw CameraIdentity.absence() }
            return camera
        }
    }

    /// What the program that has the camera calls itself; empty where the kernel doesn't tell.
    func holder(of camera: CameraIdentity) -> String {
        guard let device = try? self.camera(preferring: { $0 == camera }).device else { return "" }
        return FileHolder.all(of: [device]).first?.program ?? ""
    }

    /// Opens the camera after the hook has run, if it still is the expected one.
    func open(
        _ expected: CameraIdentity,
        _ interruption: Interruption
    ) throws(CameraFault) -> any FrameSource {
        if case .replay(let file) = source { return try ReplaySource(path: file) }
        if let pipeWire {
            try hook?.run(pipeWire.description, interruption)
            return try PipeWireSource(pipeWire, as: expected, interruption)
        }
        guard let device = try camera(preferring: { $0 == expected }).device else {
            throw .disconnected
        }
        let camera = try PinnedCamera(device: device, identity: expected, hook: hook)
            .open(interruption)
        guard takes(camera.format) else {
            throw .untrusted("\(device) gives colours, so it is no infrared camera.")
        }
        return camera
    }

    /// Whether frames are such as the camera has to give: GREY, where it is to be an infrared one.
    func takes(_ format: PixelFormat) -> Bool { !isInfrared || format == .grey }

    /// The strength: a camera counts as infrared when it says so itself.
    var strength: SensorProperties.Strength { strength(saysInfrared: saysInfrared) }

    /// The strength with a camera that says so, or doesn't; one for comfort isn't asked.
    func strength(saysInfrared: @autoclosure () -> Bool) -> SensorProperties.Strength {
        isInfrared && saysInfrared() ? .strong : .convenience
    }

    private var saysInfrared: Bool {
        guard let device = try? camera().device else { return false }
        return (try? V4L2Source.isInfrared(device)) == true
    }

    /// Whether the sensor can be used, and why not; the message is empty when it can.
    ///
    /// `fault` is what is wrong beside the camera; `absence` says which camera isn't there, where a
    /// certain one was named.
    func availability(
        _ fault: FaceFault?,
        absence: String?,
        camera: () throws(CameraFault) -> CameraIdentity
    ) -> (isPresent: Bool, unavailability: Unavailability?, message: String) {
        guard FaceEngine.isBuilt else { return (true, .failed, FaceEngine.notBuilt) }
        do throws(CameraFault) {
            _ = try camera()
        } catch {
            switch error {
            case .untrusted(let message): return (true, .untrusted, message)
            case .failed(let message): return (true, .failed, message)
            default: return (false, .noHardware, absence ?? "There is no camera.")
            }
        }
        if case .failed(let message)? = fault { return (true, .failed, message) }
        return (true, nil, "")
    }
}

extension StartError {
    /// Why the sensor can't start at all.
    init(_ fault: FaceFault) {
        if case .failed(let message) = fault { self.init(message) } else { self.init("\(fault)") }
    }
}
