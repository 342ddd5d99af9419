import CV4L2
import Glibc
import TestSupport
import Testing

@testable import CameraDevice

@Suite struct CameraIdentityTests {
    private static let usb = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-5"
    private static let place = "pci-0000:00:14.0-usb-0:5:1.0-video-index0"

    private func tree(
        device: String = "\(usb)/1-5:1.0/video4linux/video0",
        serial: String? = "A1 B2\n",
        place: String? = place
    ) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write("dev/video0", [])
        folder.make(device)
        try folder.link("sys/class/video4linux/video0", to: "\(folder.path)/\(device)")
        try folder.write("\(Self.usb)/idVendor", "046d\n".utf8)
        try folder.write("\(Self.usb)/idProduct", "085c\n".utf8)
        if let serial { try folder.write("\(Self.usb)/serial", serial.utf8) }
        if let place {
            try folder.link("dev/v4l/by-path/\(place)", to: "\(folder.path)/dev/video0")
        }
        return folder
    }

    private func untrusted(_ folder: TemporaryFolder, _ path: String = "/dev/video0") -> String {
        do throws(CameraFault) {
            return "trusted: \(try CameraIdentity(of: path, root: folder.path))"
        } catch {
            if case .untrusted(let message) = error { return message }
            return "\(error)"
        }
    }

    @Test("A USB camera's identity is its maker, model, serial number and place")
    func usbCamera() throws {
        let folder = try tree()
        let identity = try CameraIdentity(of: "/dev/video0", root: folder.path)
        #expect(identity.description == "usb 046d:085c A1B2 at \(Self.place)")
        #expect(identity != .replay)
        // The other names of the node give an equal identity.
        let name = "/dev/v4l/by-path/\(Self.place)"
        #expect(try CameraIdentity(of: name, root: folder.path) == identity)
        #expect(CameraIdentity.camera(root: folder.path)?.device == "/dev/video0")
    }

    @Test("Without a serial number, or at another port, the identity differs")
    func others() throws {
        let one = try tree()
        let two = try tree(serial: nil)
        let three = try tree(place: "pci-0000:00:14.0-usb-0:6:1.0-video-index0")
        let identities = try Set(
            [one, two, three]
                .map { folder in
                    try CameraIdentity(of: "/dev/video0", root: folder.path)
                }
        )
        #expect(identities.count == 3)
    }

    /// Lists USB devices as the kernel does: this camera, and another with the given serial number.
    private func list(_ folder: TemporaryFolder, other serial: String) throws {
        let bus = "sys/bus/usb/devices"
        try folder.link("\(bus)/1-5", to: "\(folder.path)/\(Self.usb)")
        try folder.write("\(bus)/1-6/idVendor", "046d\n".utf8)
        try folder.write("\(bus)/1-6/idProduct", "085c\n".utf8)
        try folder.write("\(bus)/1-6/serial", serial.utf8)
    }

    @Test("A camera with a unique serial number keeps its identity at another port or in a dock")
    func moved() throws {
        let places = [
            Self.place, "pci-0000:00:14.0-usb-0:6:1.0-video-index0",
            "pci-0000:3a:00.0-usb-0:2.1.4:1.0-video-index0",
        ]
        let identities = try places.map { place in
            let folder = try tree(place: place)
            try list(folder, other: "C3\n")
            return try CameraIdentity(of: "/dev/video0", root: folder.path).description
        }
        #expect(Set(identities) == ["usb 046d:085c A1B2 at 1.0-video-index0"])
        // Identities stored by an earlier version still match.
        for place in places {
            #expect(CameraIdentity.isSame("usb 046d:085c A1B2 at \(place)", as: identities[0]))
        }
    }

    @Test("Another function, another device or an ambiguous identity is another camera")
    func notMoved() throws {
        let infrared = try tree(place: "pci-0000:00:14.0-usb-0:5:1.2-video-index0")
        try list(infrared, other: "C3\n")
        let twin = try tree()
        try list(twin, other: "A1 B2\n")
        let mine = "usb 046d:085c A1B2 at 1.0-video-index0"
        for folder in [infrared, twin] {
            let other = try CameraIdentity(of: "/dev/video0", root: folder.path).description
            #expect(other != mine)
            #expect(!CameraIdentity.isSame(mine, as: other))
        }
        for written in [
            "usb 046d:085c - at \(Self.place)", "usb 046d:085c C3 at \(Self.place)",
            "usb 046d:0000 A1B2 at \(Self.place)", "replay", "",
        ] {
            #expect(!CameraIdentity.isSame(written, as: mine), "\(written)")
        }
        #expect(!CameraIdentity.isSame("usb 046d:085c - at x:1.0", as: "usb 046d:085c - at 1.0"))
    }

    @Test("The preferred camera is chosen regardless of its number, otherwise the first")
    func several() throws {
        let folder = try tree(serial: nil)
        let dock = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-7"
        let place = "pci-0000:00:14.0-usb-0:7:1.0-video-index0"
        for (name, number) in [("idVendor", "17ef\n"), ("idProduct", "4810\n")] {
            try folder.write("\(dock)/\(name)", number.utf8)
        }
        folder.make("\(dock)/1-7:1.0/video4linux/video2")
        try folder.write("dev/video2", [])
        try folder.link(
            "sys/class/video4linux/video2",
            to: "\(folder.path)/\(dock)/1-7:1.0/video4linux/video2"
        )
        try folder.link("dev/v4l/by-path/\(place)", to: "\(folder.path)/dev/video2")
        let first = try CameraIdentity(of: "/dev/video0", root: folder.path)
        let second = try CameraIdentity(of: "/dev/video2", root: folder.path)
        func taken(
            _ preferred: [CameraIdentity],
            _ isFit: (String) -> Bool = { _ in true }
        ) -> CameraIdentity? {
            CameraIdentity.camera(root: folder.path, where: isFit) { preferred.contains($0) }?
                .identity
        }
        #expect(taken([]) == first && taken([.replay]) == first)
        #expect(taken([first]) == first && taken([first, second]) == first)
        #expect(taken([second]) == second)
        #expect(taken([second], { $0 == "/dev/video0" }) == first)
        #expect(taken([first], { $0 == "/dev/video2" }) == second)
        #expect(taken([first, second], { _ in false }) == nil)
    }

    @Test("A virtual camera is refused with a reason")
    func virtual() throws {
        let folder = try tree(device: "sys/devices/virtual/video4linux/video0")
        #expect(untrusted(folder).contains("virtual camera"))
        #expect(CameraIdentity.camera(root: folder.path) == nil)
    }

    @Test("Without any identifiable camera, the first camera explains why; a codec is no camera")
    func noneToKnow() throws {
        let codec = V4L2_CAP_VIDEO_M2M_MPLANE
        for (place, reason) in [
            ("virtual/video4linux", "virtual camera"),
            ("platform/isp/video4linux", "no USB camera"),
        ] {
            let folder = try tree(device: "sys/devices/\(place)/video0")
            let camera = FakeCamera()
            func absence() -> String {
                "\(CameraIdentity.absence(root: folder.path, system: camera.system))"
            }
            #expect(absence().contains(reason))
            // Multi-planar capture only.
            camera.abilities = UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE)
            #expect(absence().contains(reason))
            camera.abilities = UInt32(codec)
            #expect(absence() == "disconnected")
            camera.abilities = cv4l2_cap_capture | UInt32(V4L2_CAP_VIDEO_OUTPUT)
            #expect(absence() == "disconnected")
            #expect(!camera.isOpen)
        }
        let none = try TemporaryFolder()
        #expect(CameraIdentity.absence(root: none.path) == .disconnected)
    }

    @Test("A camera that is not on USB, or has no by-path name, is refused with a reason")
    func nameless() throws {
        let platform = try tree(device: "sys/devices/platform/isp/video4linux/video0")
        #expect(untrusted(platform).contains("no USB camera"))
        #expect(untrusted(try tree(place: nil)).contains("by-path"))
        let empty = try tree()
        try empty.write("\(Self.usb)/idVendor", [])
        #expect(untrusted(empty).contains("which USB device"))
    }

    @Test("A file with a camera's name is refused")
    func impostor() throws {
        let folder = try tree()
        try folder.write("tmp/video0", [])
        #expect(untrusted(folder, "/tmp/video0").contains("no video device"))
        try folder.write("dev/videoX", [])
        #expect(untrusted(folder, "/dev/videoX").contains("no video device"))
        try folder.write("dev/video7", [])
        #expect(untrusted(folder, "/dev/video7").contains("knows no"))
        #expect(throws: CameraFault.disconnected) {
            try CameraIdentity(of: "/dev/video1", root: folder.path)
        }
    }
}

/// Tests a camera between its hook and its first frame, with real device numbers.
@Suite struct PinnedCameraTests {
    private let folder: TemporaryFolder

    /// Makes two USB cameras with the numbers of /dev/null and /dev/zero.
    ///
    /// `/dev/video0` is the first.
    init() throws {
        folder = try TemporaryFolder()
        for (port, device, number) in [("1-1", "/dev/null", "1:3"), ("1-2", "/dev/zero", "1:5")] {
            let usb = "sys/devices/pci0/usb1/\(port)"
            let video = "\(usb)/\(port):1.0/video4linux/video0"
            try folder.write("\(usb)/idVendor", "046d\n".utf8)
            try folder.write("\(usb)/idProduct", "085c\n".utf8)
            try folder.write("\(usb)/serial", "\(port)\n".utf8)
            folder.make(video)
            try folder.link("sys/dev/char/\(number)", to: "\(folder.path)/\(video)")
            try folder.link("dev/v4l/by-path/pci-usb-\(port)", to: device)
        }
        try folder.write("dev/video0", [])
    }

    private func identity(_ device: String) throws -> CameraIdentity {
        try CameraIdentity(opened: #require(DeviceNumber(of: device)), root: folder.path)
    }

    private func open(
        _ camera: FakeCamera,
        as identity: CameraIdentity,
        hook: String = "exit 0"
    ) throws -> V4L2Source {
        try folder.write("hook", "#!/bin/sh\n\(hook)\n".utf8, mode: 0o755)
        let hook = try PreOpenHook(folder.path + "/hook")
        return try PinnedCamera(device: "/dev/video0", identity: identity, hook: hook)
            .open(Interruption(), system: camera.system, root: folder.path)
    }

    @Test("The pinned camera is opened")
    func same() throws {
        let identity = try identity("/dev/null")
        #expect(identity.description == "usb 046d:085c 1-1 at pci-usb-1-1")
        #expect(try open(FakeCamera(), as: identity).format == .yuyv)
    }

    @Test("A camera that took over the name is refused and closed")
    func swapped() throws {
        let camera = FakeCamera()
        camera.device = "/dev/zero"
        let pinned = try identity("/dev/null")
        do {
            _ = try open(camera, as: pinned)
            Issue.record("it was opened")
        } catch CameraFault.untrusted(let message) {
            #expect(message.contains("another camera") && message.contains("1-2"))
        }
        #expect(!camera.isOpen && !camera.isStreaming)
    }

    @Test("The open device decides, not its name")
    func renamed() throws {
        // The hook points the names at the second camera, which is pinned, but the first is open.
        let pinned = try identity("/dev/zero")
        let camera = FakeCamera()
        let swap = "ln -sfn ../../devices/pci0/usb1/1-2 '\(folder.path)/sys/class'"
        #expect(throws: CameraFault.self) { try open(camera, as: pinned, hook: swap) }
    }

    @Test("A camera that disappeared during opening, or has no number, is refused")
    func gone() throws {
        let identity = try identity("/dev/null")
        let link = "\(folder.path)/sys/dev/char/1:3"
        #expect(throws: CameraFault.disconnected) {
            try open(FakeCamera(), as: identity, hook: "rm '\(link)'")
        }
        let camera = FakeCamera()
        camera.device = "/nothing"
        #expect(throws: CameraFault.self) { try open(camera, as: identity) }
    }

    @Test("A camera is infrared if GREY is its chosen format")
    func infrared() throws {
        let camera = FakeCamera()
        #expect(try !V4L2Source.isInfrared("/dev/video0", system: camera.system))
        camera.formats = [cv4l2_grey]
        #expect(try V4L2Source.isInfrared("/dev/video0", system: camera.system))
        #expect(!camera.isOpen && !camera.requests.contains(cv4l2_streamon))
        camera.openFailure = EBUSY
        #expect(throws: CameraFault.busy) {
            try V4L2Source.isInfrared("/dev/video0", system: camera.system)
        }
    }
}

@Suite struct PreOpenHookTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hook(_ script: String) throws -> PreOpenHook {
        try folder.write("hook", "#!/bin/sh\n\(script)\n".utf8, mode: 0o755)
        return try PreOpenHook(folder.path + "/hook")
    }

    @Test("The hook gets the device as its only argument")
    func argument() throws {
        let hook = try hook("echo \"$#:$1\" > \"$(dirname \"$0\")/said\"")
        try hook.run("/dev/video0", Interruption())
        #expect(try folder.read("said") == Array("1:/dev/video0\n".utf8))
    }

    @Test("A hook that fails, crashes or times out is reported and killed")
    func fails() throws {
        let interruption = try Interruption()
        #expect(throws: CameraFault.failed("The hook ended with status 3.")) {
            try hook("exit 3").run("", interruption)
        }
        #expect(throws: CameraFault.failed("The hook ended with signal 6.")) {
            try hook("kill -ABRT $$").run("", interruption)
        }
        #expect(throws: CameraFault.failed("The hook took longer than 50 ms.")) {
            try hook("exec tail -f /dev/null").run("", interruption, limit: 50)
        }
    }

    @Test("An interruption ends the hook")
    func interrupted() throws {
        let interruption = try Interruption()
        interruption.raise()
        #expect(throws: CameraFault.interrupted) {
            try hook("exec tail -f /dev/null").run("", interruption)
        }
    }

    @Test("Processes that a hook starts end with it", arguments: ["wait", "exit 0"])
    func children(_ end: String) throws {
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(pipe) }
        // The shell waits until the child has opened the pipe. Only the child's end then closes it.
        let hook = try hook(
            """
            pipe='\(path)'
            [ -p "$pipe.ready" ] || mkfifo "$pipe.ready"
            { echo >"$pipe.ready"; exec tail -f /dev/null; } >"$pipe" 2>/dev/null &
            read line <"$pipe.ready"
            : >"$pipe.open"
            \(end)
            """
        )
        var isOver = false
        // On a busy machine the shell may need more than a second: try again with a longer limit.
        for limit in [1_000, 20_000, 120_000] where !isOver {
            do throws(CameraFault) {
                try hook.run("", Interruption(), limit: Int32(limit))
                isOver = true
                #expect(end == "exit 0")
            } catch {
                #expect(error == .failed("The hook took longer than \(limit) ms."))
                isOver = end == "wait" && access(path + ".open", F_OK) == 0
            }
        }
        #expect(isOver)
        var query = [pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)]
        #expect(poll(&query, 1, 60_000) == 1 && query[0].revents & Int16(POLLHUP) != 0)
    }

    @Test("A hook gets default signal handlers and nothing of the sensor's environment")
    func surroundings() throws {
        setenv("LOCALAUTH_TEST_SECRET", "told", 1)
        defer { unsetenv("LOCALAUTH_TEST_SECRET") }
        try hook("env > \"$(dirname \"$0\")/said\"").run("", Interruption())
        let said = String(decoding: try folder.read("said"), as: UTF8.self)
        #expect(said.contains("PATH=/usr/sbin") && !said.contains("told"))
        signal(SIGPIPE, SIG_IGN)
        #expect(throws: CameraFault.failed("The hook ended with signal \(SIGPIPE).")) {
            try hook("kill -PIPE $$").run("", Interruption())
        }
    }

    @Test("A hook must be a program's absolute path", arguments: ["true", "/nothing/here", ""])
    func paths(_ path: String) {
        #expect(throws: CameraFault.self) { try PreOpenHook(path) }
    }
}
