import Glibc
import Testing

@testable import CameraDevice

/// Which camera it is, on a tree of files as the kernel and udev make it.
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

    @Test("A USB camera is its maker, model, serial number and place")
    func usbCamera() throws {
        let folder = try tree()
        let identity = try CameraIdentity(of: "/dev/video0", root: folder.path)
        #expect(identity.description == "usb 046d:085c A1B2 at \(Self.place)")
        #expect(identity != .replay)
        // By any of its names.
        let name = "/dev/v4l/by-path/\(Self.place)"
        #expect(try CameraIdentity(of: name, root: folder.path) == identity)
        #expect(CameraIdentity.cameras(root: folder.path) == ["/dev/video0"])
    }

    @Test("Without a serial number, or at another port, it is another camera")
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

    @Test("A virtual camera is refused with a reason")
    func virtual() throws {
        let folder = try tree(device: "sys/devices/virtual/video4linux/video0")
        #expect(untrusted(folder).contains("virtual camera"))
        #expect(CameraIdentity.cameras(root: folder.path).isEmpty)
    }

    @Test("A camera that is not on USB, or has no name by its place, is refused with a reason")
    func nameless() throws {
        let platform = try tree(device: "sys/devices/platform/isp/video4linux/video0")
        #expect(untrusted(platform).contains("no USB camera"))
        #expect(untrusted(try tree(place: nil)).contains("by-path"))
        let empty = try tree()
        try empty.write("\(Self.usb)/idVendor", [])
        #expect(untrusted(empty).contains("which USB device"))
    }

    @Test("A file that calls itself a camera is refused")
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

/// What is run before the camera is opened.
@Suite struct PreOpenHookTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hook(_ script: String) throws -> PreOpenHook {
        try folder.write("hook", "#!/bin/sh\n\(script)\n".utf8, mode: 0o755)
        return try PreOpenHook(folder.path + "/hook")
    }

    @Test("The hook gets the device as its one argument")
    func argument() throws {
        let hook = try hook("echo \"$#:$1\" > \"$(dirname \"$0\")/said\"")
        try hook.run("/dev/video0", Interruption())
        #expect(try folder.read("said") == Array("1:/dev/video0\n".utf8))
    }

    @Test("A hook that fails, crashes or takes too long is told, and is gone")
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

    @Test("Only the whole path of a program is a hook", arguments: ["true", "/nothing/here", ""])
    func paths(_ path: String) {
        #expect(throws: CameraFault.self) { try PreOpenHook(path) }
    }
}
