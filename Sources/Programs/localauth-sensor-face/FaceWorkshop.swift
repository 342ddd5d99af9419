import CameraDevice
import FaceSensor
import Linux
import LocalAuthBus
import PipeWireCamera
import SensorKit
import ServiceProgram

struct FaceWorkshop {
    private let settings: FaceSettings

    init(_ settings: FaceSettings) { self.settings = settings }

    func scanner() throws(FaceFault) -> Scanner {
        let settings = settings
        return try Scanner(
            threshold: settings.threshold,
            requiresLiveness: settings.isInfrared,
            asksForAttention: settings.asksForAttention,
            makeAnalyzer: { () throws(FaceFault) in
                let engine = try FaceEngine(models: settings.models, state: settings.state)
                return { engine.follow($0) }
            },
            camera: { expected, interruption throws(CameraFault) in
                try settings.open(expected, interruption)
            }
        )
    }
}

extension FaceSettings {
    var description: String {
        switch source {
        case .camera, .pipeWire: isInfrared ? "Face, infrared camera" : "Face, camera"
        case .replay: "Face, replay of pictures (proves no identity)"
        }
    }

    /// The configured PipeWire camera; nil for the kernel's devices.
    var pipeWire: PipeWireAddress? {
        if case .pipeWire(let address) = source { address } else { nil }
    }

    /// The configured camera, else the first preferred camera, else the first; a replay has no
    /// device.
    ///
    /// Order alone is not enough: the kernel numbers a dock's camera before the built-in camera in
    /// some boots, and after it in others.
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

    /// The program that holds the camera; empty if the kernel does not tell.
    func holder(of camera: CameraIdentity) -> String {
        guard let device = try? self.camera(preferring: { $0 == camera }).device else { return "" }
        return FileHolder.all(of: [device]).first?.program ?? ""
    }

    /// Runs the hook and opens the camera if it still is the expected camera.
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
        guard accepts(format: camera.format) else {
            throw .untrusted("\(device) gives colours, so it is no infrared camera.")
        }
        return camera
    }

    /// Whether frames of this format are acceptable: an infrared camera must deliver GREY.
    func accepts(format: PixelFormat) -> Bool { !isInfrared || format == .grey }

    /// The strength; a camera counts as infrared if the driver says so.
    var strength: SensorProperties.Strength { strength(saysInfrared: saysInfrared) }

    /// The strength, given whether the camera says that it is infrared.
    ///
    /// Not evaluated unless the settings demand infrared.
    func strength(saysInfrared: @autoclosure () -> Bool) -> SensorProperties.Strength {
        isInfrared && saysInfrared() ? .strong : .convenience
    }

    private var saysInfrared: Bool {
        guard let device = try? camera().device else { return false }
        return (try? V4L2Source.isInfrared(device)) == true
    }

    /// Whether the sensor can be used, with a message if not.
    ///
    /// `fault` is a problem other than the camera. `absence` says which configured camera is
    /// missing.
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
    init(_ fault: FaceFault) {
        if case .failed(let message) = fault { self.init(message) } else { self.init("\(fault)") }
    }
}
