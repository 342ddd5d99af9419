import CameraDevice
import FaceSensor
import Glibc
import PipeWireCamera
import TestSupport
import Testing

/// A PipeWire daemon for a test, with simulated cameras.
final class PipeWireRig {
    static let nobody: uid_t = 65_534
    private static let missing: [String] = [
        FaceEngine.isBuilt ? nil : "the package trait Face is off",
        access("/usr/bin/pipewire", X_OK) == 0 ? nil : "pipewire-bin isn't installed",
        geteuid() == 0 ? nil : "only a system user's PipeWire is taken: run as root",
    ]
    .compactMap(\.self)

    static let isReady = missing.isEmpty
    static let reason: Comment = "\(missing.joined(separator: ", "))"

    let folder: TemporaryFolder
    private(set) var daemon: ChildProcess?
    private var cameras: [ChildProcess] = []

    var socket: String { folder.path + "/run/pipewire-0" }
    var name: String { "pipewire:\(socket)#CAM" }
    var address: PipeWireAddress { get throws { try #require(PipeWireAddress(name)) } }

    /// Returns a configuration, with a device as the camera unless it is nil.
    private static func configuration(_ device: String?) -> String {
        let camera = device.map { device in
            """
            context.objects = [
                { factory = spa-node-factory args = {
                    factory.name = api.v4l2.source
                    node.name = CAM
                    media.class = Video/Source
                    api.v4l2.path = "\(device)"
                } }
            ]

            """
        }
        return """
            context.properties = { core.daemon = true core.name = pipewire-0 support.dbus = false }
            context.spa-libs = {
                support.* = support/libspa-support
                api.v4l2.* = v4l2/libspa-v4l2
            }
            context.modules = [
                { name = libpipewire-module-protocol-native }
                { name = libpipewire-module-client-node }
                { name = libpipewire-module-access }
                { name = libpipewire-module-link-factory }
                { name = libpipewire-module-spa-node-factory }
            ]
            \(camera ?? "")
            """
    }

    /// Starts a daemon, optionally as another user or with a device as its camera.
    init(as user: uid_t? = nil, device: String? = nil) async throws {
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        folder.make("run")
        try folder.write("pipewire.conf", Self.configuration(device).utf8)
        if let user { chown(folder.path + "/run", user, user) }
        try await start(as: user)
    }

    func start(as user: uid_t? = nil) async throws {
        let prefix = user.map {
            ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"]
        }
        // Each node of a crowd needs three descriptors.
        daemon = try ChildProcess(
            ["/usr/bin/prlimit", "--nofile=8192"] + (prefix ?? []) + [
                "/usr/bin/pipewire", "-c", folder.path + "/pipewire.conf",
            ],
            environment: ["PIPEWIRE_RUNTIME_DIR": folder.path + "/run"]
        )
        let socket = socket
        let folder = folder.path + "/run"
        try await eventually("a socket", within: .seconds(60)) {
            access(socket, F_OK) == 0 && isListened(to: "pipewire-0", in: folder)
        }
    }

    func camera(
        _ format: String = "yuyv",
        clip: String = "-",
        name: String = "CAM",
        sizes: String = "640x480",
        _ properties: [String] = ["api.libcamera.path=LENS", "device.serial=S1"]
    ) throws -> ChildProcess {
        let words = ["pipewire-camera", socket, name, format, sizes, clip] + properties
        let camera = try ChildProcess(words, hasStream: true)
        let said = try camera.line()
        try expect(said == "ready", "\(said ?? "the end"): \(camera.errors)")
        cameras.append(camera)
        return camera
    }

    /// Adds this many nodes, which exist until the returned process ends.
    func crowd(_ count: Int) throws -> ChildProcess {
        let words = ["/bin/sh", "-c", "exec /usr/bin/pw-cli -r \(socket) > /dev/null 2>&1"]
        let crowd = try ChildProcess(words, hasStream: true)
        for _ in 0..<count {
            crowd.tell("create-node spa-node-factory factory.name=support.node.driver")
        }
        return crowd
    }

    func open(
        as identity: CameraIdentity? = nil,
        _ interruption: Interruption? = nil
    ) throws -> PipeWireSource {
        let identity = try identity ?? self.identity()
        return try PipeWireSource(address, as: identity, interruption ?? Interruption())
    }

    func cameraState() throws -> PipeWireConnection.CameraState {
        let address = try address
        do throws(CameraFault) {
            let connection = try PipeWireConnection(address)
            var state = connection.serve()
            while state == .unknown {
                var waiting = [pollfd(fd: connection.descriptor, events: 1, revents: 0)]
                guard poll(&waiting, 1, 60_000) > 0 else { return .unknown }
                state = connection.serve()
            }
            return state
        } catch {
            return .fault(error)
        }
    }

    private func identity() throws -> CameraIdentity {
        let state = try cameraState()
        guard case .camera(let identity) = state else {
            throw TestFailure("no camera: \(state)")
        }
        return identity
    }
}

extension PipeWireSource {
    /// Reads frames until an error occurs, for about ten seconds at most.
    func look(_ interruption: Interruption) throws(CameraFault) {
        for _ in 0..<300 { _ = try nextFrame(interruption) }
    }
}

extension ChildProcess {
    /// Sends a camera a command and waits until it has obeyed.
    func obey(_ order: String) throws {
        tell(order)
        let word = order.split(separator: " ").first.map(String.init)
        let said = try line()
        try expect(said == word, "\(order): \(said ?? "the end")")
    }
}

/// Returns whether a socket accepts connections, because its file appears earlier.
private func isListened(to name: String, in folder: String) -> Bool {
    // The kernel lists flags and path of each socket; this flag marks a listener.
    let list = (try? TemporaryFolder.read("/proc/net/unix")) ?? []
    return String(decoding: list, as: UTF8.self).split(separator: "\n")
        .contains { $0.hasSuffix(" \(folder)/\(name)") && $0.contains(" 00010000 ") }
}
