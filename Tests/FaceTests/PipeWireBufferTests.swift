import DBus
import FaceSensor
import Glibc
import TestSupport
import Testing

@testable import CameraDevice
@testable import PipeWireCamera

/// Tests pictures in dma-bufs, as libcamera's plugin delivers them.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: PipeWireRig.isReady, PipeWireRig.reason))
struct PipeWireBufferTests {
    init() { EventLoop.shared.startThread() }

    private static let broken = CameraFault.failed("The camera gives only broken pictures.")
    private static let canMake = access("/dev/udmabuf", R_OK | W_OK) == 0
    /// A simulated camera of the kernel module vivid.
    private static let vivid = ["/dev/video0", "/dev/video1"]
        .first { device in
            let name = "/sys/class/video4linux/\(device.dropFirst(5))/name"
            let text = (try? TemporaryFolder.read(name)) ?? []
            return String(decoding: text, as: UTF8.self).contains("vid-cap")
        }

    @Test(
        "A picture in a dma-buf arrives unchanged, and a wrong offset or size is refused",
        .enabled(if: canMake, "/dev/udmabuf makes dma-bufs, and is missing")
    )
    func dmaBuf() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera("dma:nv12")
        let source = try rig.open()
        let interruption = try Interruption()
        var seen: Set<UInt8> = []
        while seen.count < 3 {
            let frame = try source.nextFrame(interruption)
            #expect(frame.format == .nv12 && frame.stride == 640 && frame.bytes.count == 460_800)
            #expect(frame.bytes.first == frame.bytes.last)
            seen.insert(frame.bytes[frame.bytes.count / 2])
        }
        for lie in ["offset 1", "offset 4294967295", "size 0", "size 460801", "corrupt"] {
            try camera.obey(lie)
            #expect(throws: Self.broken, "\(lie)") {
                try source.look(interruption)
            }
            try camera.obey("sane")
            _ = try source.nextFrame(interruption)
        }
        // A part of the buffer that does not begin at a page boundary.
        try camera.obey("size 460000")
        try camera.obey("offset 800")
        var count = 0
        while count != 460_000 {
            let frame = try source.nextFrame(interruption)
            count = frame.bytes.count
            #expect(frame.bytes.first == frame.bytes.last)
        }
    }

    @Test("A file labelled as a dma-buf is refused, and truncating it causes no crash")
    func fake() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera("fake:yuyv")
        let source = try rig.open()
        let interruption = try Interruption()
        #expect(throws: Self.broken) { _ = try source.nextFrame(interruption) }
        try camera.obey("cut")
        #expect(throws: Self.broken) { _ = try source.nextFrame(interruption) }
    }

    @Test(
        "A picture above the size limit is refused, and a smaller picture is accepted",
        arguments: canMake ? ["bgrx", "dma:bgrx"] : ["bgrx"]
    )
    func large(_ format: String) async throws {
        let rig = try await PipeWireRig()
        // Each side is within the requested range, but the whole picture has 14 MB.
        let camera = try rig.camera(format, sizes: "1920x1920")
        let source = try rig.open()
        let interruption = try Interruption()
        #expect(throws: Self.broken) { try source.look(interruption) }
        try camera.obey("format nv12")
        // Skip pictures of the previous format.
        let frames = (0..<20).lazy.compactMap { _ in try? source.nextFrame(interruption) }
        let frame = try #require(frames.first)
        #expect(frame.format == .nv12 && frame.bytes.count == 1920 * 1920 * 3 / 2)
    }

    @Test("A layout for a graphics card is refused, and a linear layout is accepted")
    func modifier() async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera()
        let source = try rig.open()
        let interruption = try Interruption()
        #expect(try source.nextFrame(interruption).format == .yuyv)
        // DRM_FORMAT_MOD_INVALID, which means unspecified, and I915_FORMAT_MOD_X_TILED.
        for modifier in ["72057594037927935", "72057594037927937"] {
            try camera.obey("modifier \(modifier)")
            try camera.obey("format nv12")
            #expect(throws: Self.broken) {
                try source.look(interruption)
            }
            try camera.obey("modifier 0")
            try camera.obey("format yuyv")
            #expect(try source.nextFrame(interruption).format == .yuyv)
        }
    }

    @Test(
        "The chosen size is large enough for a face, even if it is not the camera's first",
        arguments: [
            "320x240,640x480": (640, 480), "320x240,1280x960": (1280, 960),
            "1280x960,640x480": (640, 480), "320x240,160x120": (320, 240),
        ]
    )
    func sizes(_ sizes: String, _ wanted: (Int, Int)) async throws {
        let rig = try await PipeWireRig()
        let camera = try rig.camera("nv12", sizes: sizes)
        let frame = try rig.open().nextFrame(Interruption())
        #expect(frame.width == wanted.0 && frame.height == wanted.1)
        withExtendedLifetime(camera) {}
    }

    @Test(
        "The dma-bufs of PipeWire's own camera plugin can be read",
        .enabled(if: vivid != nil, "the kernel's module vivid isn't loaded")
    )
    func plugin() async throws {
        let rig = try await PipeWireRig(device: Self.vivid)
        let source = try rig.open()
        let interruption = try Interruption()
        var seen: Set<[UInt8]> = []
        while seen.count < 3 {
            let frame = try source.nextFrame(interruption)
            #expect(frame.format == .yuyv && frame.bytes.count == 614_400)
            #expect(frame.width == 640 && frame.height == 480)
            // The camera draws bars and a running clock.
            #expect(Set(frame.bytes).count > 8)
            seen.insert(frame.bytes)
        }
    }
}
