import DBus
import FaceSensor
import Glibc
import TestSupport
import Testing

@testable import CameraDevice
@testable import PipeWireCamera

@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: PipeWireRig.isReady, PipeWireRig.reason))
struct PipeWireTests {
    init() { EventLoop.shared.startThread() }

    private func fault(_ body: () throws -> Void) -> CameraFault? {
        do {
            try body()
            return nil
        } catch {
            return error as? CameraFault
        }
    }

    private func message(_ fault: CameraFault?) -> String {
        switch fault {
        case .untrusted(let message)?: "untrusted: \(message)"
        case .failed(let message)?: "failed: \(message)"
        case let fault: "\(fault.map { "\($0)" } ?? "none")"
        }
    }

    private func message(_ state: PipeWireConnection.CameraState) -> String {
        if case .fault(let fault) = state { message(fault) } else { "\(state)" }
    }

    @Test(
        "Pictures arrive in each format, the newest first",
        arguments: [
            "yuyv": (PixelFormat.yuyv, 1280, 614_400), "nv12": (.nv12, 640, 460_800),
            "i420": (.i420, 640, 460_800), "rgb": (.rgb, 1920, 921_600),
            "bgrx": (.bgrx, 2560, 1_228_800), "grey": (.grey, 640, 307_200),
            "mjpg": (.mjpg, 0, 614_400),
        ]
    )
    func formats(_ name: String, _ wanted: (PixelFormat, Int, Int)) async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera(name)
        let source = try rig.open()
        let interruption = try Interruption()
        var seen: Set<UInt8> = []
        while seen.count < 3 {
            let frame = try source.nextFrame(interruption)
            #expect(frame.format == wanted.0 && frame.stride == wanted.1)
            #expect(frame.width == (name == "mjpg" ? 0 : 640))
            #expect(frame.bytes.count == wanted.2)
            seen.insert(frame.bytes[frame.bytes.count / 2])
        }
        withExtendedLifetime(camera) {}
    }

    @Test("A size or offset outside the buffer is refused, and correct values work again")
    func lies() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera()
        let source = try rig.open()
        let interruption = try Interruption()
        let broken = CameraFault.failed("The camera gives only broken pictures.")
        let lies = [
            "offset 1", "offset 4294967295", "size 0", "size 614401", "size 4294967295", "corrupt",
        ]
        for lie in lies {
            try camera.obey(lie)
            #expect(throws: broken, "\(lie)") {
                try source.look(interruption)
            }
            try camera.obey("sane")
            _ = try source.nextFrame(interruption)
        }
        // The decoder compares a frame's stride with its size.
        try camera.obey("stride 5")
        var stride = 0
        while stride != 5 { stride = try source.nextFrame(interruption).stride }
    }

    @Test("Memory that the camera truncates is refused and causes no crash")
    func cut() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera("own:yuyv")
        let source = try rig.open()
        let interruption = try Interruption()
        #expect(try source.nextFrame(interruption).bytes.count == 614_400)
        try camera.obey("cut")
        #expect(throws: CameraFault.failed("The camera gives only broken pictures.")) {
            try source.look(interruption)
        }
    }

    @Test("A camera that changes its format continues with the new format")
    func change() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera()
        let source = try rig.open()
        let interruption = try Interruption()
        #expect(try source.nextFrame(interruption).format == .yuyv)
        try camera.obey("format nv12")
        var frame = try source.nextFrame(interruption)
        while frame.format == .yuyv { frame = try source.nextFrame(interruption) }
        #expect(frame.format == .nv12 && frame.bytes.count == 460_800)
    }

    @Test("An unknown format and a hanging camera are reported")
    func unusable() async throws {
        let rig = try await PipeWireRig()
        let other = try rig.camera("none", name: "OTHER")
        let address = try #require(PipeWireAddress("pipewire:\(rig.socket)#OTHER"))
        let identity = try CameraIdentity(
            pipeWire: "OTHER",
            ["api.libcamera.path": "LENS", "device.serial": "S1"]
        )
        let refused = fault { _ = try PipeWireSource(address, as: identity, Interruption()) }
        #expect(message(refused).hasPrefix("failed: PipeWire can't go on with the camera"))
        withExtendedLifetime(other) {}

        let camera = try rig.camera()
        let source = try rig.open()
        let interruption = try Interruption()
        _ = try source.nextFrame(interruption)
        try camera.obey("hold")
        #expect(throws: CameraFault.failed("The camera gives no pictures.")) {
            try source.look(interruption)
        }
        let raised = try Interruption()
        raised.raise()
        #expect(throws: CameraFault.interrupted) {
            try source.look(raised)
        }
    }

    @Test("PipeWire's error becomes a sentence, and a busy device the busy fault")
    func reasons() {
        #expect(PipeWireSource.fault("Start error: Device or resource busy") == .busy)
        let sentence = "PipeWire can't go on with the camera"
        #expect(
            PipeWireSource.fault("no more\ninput formats\u{202E}")
                == .failed(
                    "\(sentence): no moreinput formats."
                )
        )
        #expect(PipeWireSource.fault("") == .failed("\(sentence)."))
        let long = String(repeating: "x", count: 1000)
        #expect(PipeWireSource.fault(long) == .failed("\(sentence): \(long.prefix(120))."))
    }

    @Test("A camera or daemon that disappears is disconnected, and usable when it returns")
    func goes() async throws {
        let rig = try await PipeWireRig()
        #expect(try rig.cameraState() == .fault(.disconnected))
        let missing = try CameraIdentity(pipeWire: "CAM", [:])
        #expect(throws: CameraFault.disconnected) { _ = try rig.open(as: missing) }
        let camera = try rig.camera()
        let source = try rig.open()
        let interruption = try Interruption()
        _ = try source.nextFrame(interruption)
        await camera.end()
        #expect(throws: CameraFault.disconnected) {
            try source.look(interruption)
        }
        #expect(try rig.cameraState() == .fault(.disconnected))
        _ = try rig.camera("nv12")
        let second = try rig.open()
        #expect(try second.nextFrame(interruption).format == .nv12)
        await rig.daemon?.end()
        #expect(throws: CameraFault.disconnected) {
            try second.look(interruption)
        }
        #expect(try rig.cameraState() == .fault(.disconnected))
    }

    @Test("A hanging daemon is reported as not answering")
    func hangs() async throws {
        let rig = try await PipeWireRig()
        let identity = try CameraIdentity(pipeWire: "CAM", [:])
        rig.daemon?.signal(SIGSTOP)
        let silent = CameraFault.failed("PipeWire doesn't answer at \(rig.socket).")
        #expect(throws: silent) { _ = try rig.open(as: identity) }
    }

    @Test("A camera's identity is its name, place and serial number, and others are refused")
    func identity() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera()
        let mine = try CameraIdentity(
            pipeWire: "CAM",
            ["api.libcamera.path": "LENS", "device.serial": "S1"]
        )
        #expect(try rig.cameraState() == .camera(mine))
        #expect(mine.description == "pipewire CAM LENS S1")
        await camera.end()
        for other in [["api.libcamera.path=LENS"], ["device.serial=S1"], []] {
            let camera = try rig.camera("yuyv", other)
            let refusal = message(fault { _ = try rig.open(as: mine) })
            #expect(refusal.hasPrefix("untrusted: The camera changed"), "\(refusal)")
            await camera.end()
            while try rig.cameraState() != .fault(.disconnected) {}
        }
    }
}

/// Tests which users PipeWire may belong to.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: PipeWireRig.isReady, PipeWireRig.reason))
struct PipeWireTrustTests {
    init() { EventLoop.shared.startThread() }

    private func refusal(_ rig: PipeWireRig) throws -> String {
        if case .fault(.untrusted(let message)) = try rig.cameraState() { message } else { "" }
    }

    @Test("A person's PipeWire is refused, even if its files belong to the system")
    func person() async throws {
        let rig = try await PipeWireRig(as: PipeWireRig.nobody)
        let words = "belongs to the user 65534"
        #expect(try refusal(rig).contains("\(rig.folder.path)/run \(words)"))
        // Change the owner of the folder, then of the socket: the kernel still reports the
        // listener's user.
        chown(rig.folder.path + "/run", 0, 0)
        #expect(try refusal(rig).contains("\(rig.socket) \(words)"))
        chown(rig.socket, 0, 0)
        #expect(try refusal(rig).contains("\(rig.socket) \(words)"))
    }

    @Test("A session's PipeWire is refused by its path, even if it does not exist")
    func session() throws {
        let address = try #require(PipeWireAddress("pipewire:/run/user/1000/pipewire-0#CAM"))
        #expect(
            throws: CameraFault.untrusted(
                "/run/user/1000/pipewire-0 is the PipeWire of a session. The session's user can feed it "
                    + "any picture."
            )
        ) { _ = try PipeWireConnection(address) }
    }

    @Test("A socket open to everyone and a folder writable for others are refused")
    func open() async throws {
        let rig = try await PipeWireRig()
        _ = try rig.camera()
        chmod(rig.socket, 0o777)
        #expect(try refusal(rig).hasPrefix("Any user may connect to \(rig.socket)"))
        chmod(rig.socket, 0o770)
        #expect(try refusal(rig).isEmpty)
        for mode: mode_t in [0o777, 0o775] {
            chmod(rig.folder.path + "/run", mode)
            #expect(try refusal(rig).hasPrefix("Others can change \(rig.folder.path)/run"))
        }
        // As in /tmp, where users cannot remove files of others.
        chmod(rig.folder.path + "/run", 0o1777)
        #expect(try refusal(rig).isEmpty)
        try rig.folder.write("run/file", [])
        let file = try #require(PipeWireAddress("pipewire:\(rig.folder.path)/run/file#CAM"))
        #expect(
            throws: CameraFault.failed("\(rig.folder.path)/run/file is no socket of PipeWire.")
        ) { _ = try PipeWireConnection(file) }
    }

    @Test("A person's connected program makes the camera unusable and ends an open stream")
    func client() async throws {
        let rig = try await PipeWireRig()
        _ = try rig.camera()
        let source = try rig.open()
        let interruption = try Interruption()
        _ = try source.nextFrame(interruption)
        chmod(rig.socket, 0o777)
        let program = try ChildProcess([
            "/usr/bin/setpriv", "--reuid=\(PipeWireRig.nobody)", "--regid=\(PipeWireRig.nobody)",
            "--clear-groups", "/usr/bin/pw-mon", "-r", rig.socket,
        ])
        try await eventually("a client", within: .seconds(60)) { !program.outputBytes.isEmpty }
        let words = "A program of the user 65534 is connected to PipeWire, and could feed it any "
        #expect(throws: CameraFault.untrusted(words + "picture.")) {
            try source.look(interruption)
        }
        chmod(rig.socket, 0o700)
        #expect(try refusal(rig) == words + "picture.")
        await program.end()
        while try refusal(rig) == words + "picture." {}
        #expect(try refusal(rig).isEmpty)
    }
}

@Suite struct PipeWireGraphTests {
    private func graph(
        own user: UInt32 = 0,
        _ entries: [(UInt32, Bool, [String: String])]
    ) -> PipeWireGraph {
        var graph = PipeWireGraph(own: user)
        for (id, isClient, properties) in entries {
            graph.add(id, isClient: isClient)
            for (key, value) in properties { graph.set(key, of: id, to: value) }
        }
        return graph
    }

    private static let client = ["pipewire.sec.uid": "0", "object.serial": "5"]
    private static let node = [
        "node.name": "CAM", "media.class": "Video/Source", "object.serial": "9", "client.id": "1",
    ]

    private func refusal(_ graph: PipeWireGraph) -> String {
        do throws(CameraFault) {
            return "camera \(try graph.camera("CAM"))"
        } catch {
            switch error {
            case .untrusted(let message), .failed(let message): return message
            default: return "\(error)"
            }
        }
    }

    private func with(_ key: String, _ value: String?) -> PipeWireGraph {
        var node = Self.node
        node[key] = value
        return graph([(1, true, Self.client), (2, false, node)])
    }

    @Test("A camera is the daemon's own node, or a node whose maker is connected")
    func maker() {
        #expect(refusal(with("media.class", "Video/Source")) == "camera 2")
        #expect(refusal(with("client.id", nil)) == "camera 2")
        #expect(refusal(with("node.name", "CAM2")) == "disconnected")
        #expect(refusal(with("media.class", "Video/Sink")).hasSuffix("is no camera."))
        // The maker is gone, its id belongs to a node or is invalid, or it is newer than the node.
        for (key, value) in [
            ("client.id", "7"), ("client.id", "2"), ("client.id", "x"), ("object.serial", "4"),
            ("object.serial", nil),
        ] {
            #expect(refusal(with(key, value)).hasSuffix("by a program that is gone."), "\(key)")
        }
    }

    @Test("Two cameras of one name are refused, and a camera beside an unknown user too")
    func doubtful() {
        let two = graph([(1, true, Self.client), (2, false, Self.node), (3, false, Self.node)])
        #expect(refusal(two) == "PipeWire has 2 nodes that are called CAM.")
        for user in ["1000", "-1", "", nil] as [String?] {
            var client = ["object.serial": "6"]
            client["pipewire.sec.uid"] = user
            let graph = graph([
                (1, true, Self.client), (2, false, Self.node), (3, true, client),
            ])
            #expect(refusal(graph).hasPrefix("A program of"), "\(user ?? "nil")")
        }
        // A user of the system, and the sensor's own user.
        for user in ["999", "1000"] {
            let entries = [
                (UInt32(1), true, Self.client), (2, false, Self.node),
                (3, true, ["pipewire.sec.uid": user]),
            ]
            #expect((try? graph(own: 1000, entries).camera("CAM")) == 2)
        }
    }

    @Test("A person's program that has left may have left nodes behind, and still counts")
    func visit() {
        for properties in [["pipewire.sec.uid": "1000"], [:]] {
            var graph = graph([(1, true, Self.client), (3, true, properties)])
            graph.remove(3)
            graph.add(2, isClient: false)
            for (key, value) in Self.node { graph.set(key, of: 2, to: value) }
            #expect(refusal(graph).hasPrefix("A program of"), "\(properties)")
        }
        // A program of the system may leave.
        var harmless = graph([
            (1, true, Self.client), (2, false, Self.node), (3, true, Self.client),
        ])
        harmless.remove(3)
        #expect(refusal(harmless) == "camera 2")
    }

    @Test("A lingering node is refused, because it does not name its maker")
    func lingering() {
        #expect(refusal(with("object.linger", "false")) == "camera 2")
        #expect(refusal(with("object.linger", "true")).contains("its maker has left"))
    }

    @Test("A node cannot replace the daemon's properties, and all sizes are bounded")
    func bounds() {
        var graph = graph([(1, true, Self.client), (2, false, Self.node)])
        graph.set("object.serial", of: 2, to: "1")
        graph.set("client.id", of: 2, to: "77")
        graph.set("device.serial", of: 2, to: String(repeating: "x", count: 513))
        for number in 0..<1000 { graph.set("key\(number)", of: 2, to: "") }
        #expect(refusal(graph) == "camera 2")
        #expect(graph.entries[2]?.properties.count == Self.node.count)
        graph.remove(2)
        #expect(refusal(graph) == "disconnected")
        for id in 0..<2000 as Range<UInt32> { graph.add(id, isClient: false) }
        #expect(refusal(graph) == "PipeWire has more objects than can be judged.")
    }

    @Test("An address is an absolute path and a name")
    func addresses() {
        let address = PipeWireAddress("pipewire:/run/a/pipewire-0#libcamera_input.0#1")
        #expect(address?.socket == "/run/a/pipewire-0" && address?.folder == "/run/a")
        #expect(address?.node == "libcamera_input.0#1")
        for text in [
            "/dev/video0", "pipewire:", "pipewire:/run/a", "pipewire:/run/a#", "pipewire:run/a#b",
            "pipewire:/run/a#b c", "pipewire:/run/a#\u{e9}", "pipewire:#b",
            "pipewire:/\(String(repeating: "x", count: 107))#b",
            "pipewire:/run/a#\(String(repeating: "x", count: 97))",
        ] {
            #expect(PipeWireAddress(text) == nil, "\(text)")
        }
    }

    @Test("PipeWire's description of a camera is plain text in its identity, with a limit")
    func identities() throws {
        let text = try CameraIdentity(pipeWire: "CAM", ["device.serial": "S 1\u{e9}\n"])
        #expect(text.description == "pipewire CAM - S1")
        let long = String(repeating: "x", count: 250)
        #expect(throws: CameraFault.self) {
            try CameraIdentity(pipeWire: "CAM", ["api.libcamera.path": long])
        }
        #expect(!CameraIdentity.isSame("pipewire CAM LENS S1", as: "pipewire CAM LENS S2"))
    }
}
