import CV4L2
import Glibc
import TestSupport
import Testing

@testable import CameraDevice

@Suite struct V4L2Tests {
    private func open(_ camera: FakeCamera) throws(CameraFault) -> V4L2Source {
        try V4L2Source(path: "/dev/video0", system: camera.system)
    }

    private func expectClosed(_ camera: FakeCamera) {
        #expect(!camera.isOpen && !camera.isStreaming && camera.mapped.isEmpty)
    }

    private func frame(
        _ source: V4L2Source,
        _ interruption: Interruption? = nil
    ) throws(CameraFault) -> Frame {
        if let interruption { return try source.nextFrame(interruption) }
        return try source.nextFrame(try Interruption())
    }

    @Test("A frame has its size and format, and closing releases everything")
    func streams() throws {
        let camera = FakeCamera()
        camera.frames = [7]
        do {
            let source = try open(camera)
            #expect(source.name == "Fake" && source.format == .yuyv)
            #expect(camera.isStreaming && camera.mapped.count == 4)
            let frame = try frame(source)
            #expect((frame.width, frame.height, frame.stride) == (640, 480, 1280))
            #expect(frame.bytes == [UInt8](repeating: 7, count: FakeCamera.bufferSize))
        }
        expectClosed(camera)
        #expect(camera.requests.last == cv4l2_streamoff)
    }

    @Test("An ordinary camera gives the newest frame, an infrared camera every frame")
    func newest() throws {
        let camera = FakeCamera()
        camera.frames = [1, 2, 3]
        #expect(try frame(open(camera)).bytes.first == 3)

        let infrared = FakeCamera()
        infrared.formats = [cv4l2_grey]
        infrared.frames = [1, 2, 3]
        let source = try open(infrared)
        #expect(source.format == .grey)
        for expected: UInt8 in 1...3 { #expect(try frame(source).bytes.first == expected) }
    }

    @Test("NV12 and I420 have the size and stride of their luma")
    func planes() throws {
        for (code, format) in [(cv4l2_nv12, PixelFormat.nv12), (cv4l2_i420, .i420)] {
            let camera = FakeCamera()
            camera.formats = [cv4l2_mjpg, code]
            camera.size = (640, 480, 640)
            camera.bytesUsed = 640 * 480 * 3 / 2
            camera.frames = [9]
            let source = try open(camera)
            #expect(source.format == format)
            let frame = try frame(source)
            #expect((frame.width, frame.height, frame.stride) == (640, 480, 640))
            #expect(frame.bytes.count == 640 * 480 * 3 / 2)
        }
    }

    @Test("YUYV is preferred to MJPG and MJPG to GREY, and other formats are unknown")
    func formats() throws {
        let camera = FakeCamera()
        camera.formats = [cv4l2_grey, cv4l2_mjpg, cv4l2_i420, cv4l2_nv12, cv4l2_yuyv, 42]
        #expect(try open(camera).format == .yuyv)
        camera.formats = [cv4l2_grey, cv4l2_mjpg, cv4l2_i420, cv4l2_nv12]
        #expect(try open(camera).format == .nv12)
        camera.formats = [42, cv4l2_grey, cv4l2_jpeg]
        #expect(try open(camera).format == .mjpg)
        camera.formats = [42]
        #expect(throws: CameraFault.self) { try open(camera) }
        expectClosed(camera)
    }

    @Test(
        "A failed request is reported, and everything is released",
        arguments: [
            cv4l2_querycap, cv4l2_enum_fmt, cv4l2_s_fmt, cv4l2_reqbufs, cv4l2_querybuf, cv4l2_qbuf,
            cv4l2_streamon,
        ],
        [EIO, EBUSY, ENODEV, ENOMEM]
    )
    func setUpFails(_ request: UInt, _ number: Int32) throws {
        let camera = FakeCamera()
        camera.failures[request] = (number, 0)
        let fault = #expect(throws: CameraFault.self) { try open(camera) }
        switch number {
        case EBUSY: #expect(fault == .busy)
        case ENODEV: #expect(fault == .disconnected)
        default:
            guard case .failed(let message) = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            #expect(message.contains(String(cString: strerror(number))))
        }
        expectClosed(camera)
    }

    @Test(
        "A failure to open a node is reported with its cause",
        arguments: [
            ENOENT: CameraFault.disconnected, ENODEV: .disconnected, ENXIO: .disconnected,
            EBUSY: .busy, EACCES: .failed("The camera can't be opened: Permission denied."),
        ]
    )
    func openFails(_ number: Int32, _ fault: CameraFault) {
        let camera = FakeCamera()
        camera.openFailure = number
        #expect(throws: fault) { try open(camera) }
        #expect(camera.requests.isEmpty)
    }

    @Test("If a buffer cannot be mapped, the others are unmapped", arguments: [0, 3])
    func mapFails(_ after: Int) {
        let camera = FakeCamera()
        camera.mapFailure = (ENOMEM, after)
        #expect(throws: CameraFault.failed("A buffer can't be mapped: Cannot allocate memory.")) {
            try open(camera)
        }
        expectClosed(camera)
    }

    @Test("A failure at a later buffer is reported too", arguments: [1, 3])
    func laterBuffers(_ after: Int) {
        for request in [cv4l2_querybuf, cv4l2_qbuf] {
            let camera = FakeCamera()
            camera.failures[request] = (EINVAL, after)
            #expect(throws: CameraFault.self) { try open(camera) }
            expectClosed(camera)
        }
    }

    @Test("Nonsensical answers of a driver are refused")
    func nonsense() {
        let changes: [(FakeCamera) -> Void] = [
            { $0.abilities = cv4l2_cap_streaming }, { $0.abilities = cv4l2_cap_capture },
            { $0.formats = [] }, { $0.formats = [UInt32](repeating: 42, count: 1000) },
            { $0.givenFormat = cv4l2_grey }, { $0.size = (0, 480, 0) },
            { $0.size = (640, 100_000, 0) }, { $0.size = (640, 480, .max) },
            { $0.bufferCount = 0 }, { $0.bufferCount = 1 }, { $0.bufferCount = .max },
            { $0.bufferLength = 0 }, { $0.bufferLength = .max },
        ]
        for change in changes {
            let camera = FakeCamera()
            change(camera)
            #expect(throws: CameraFault.self) { try open(camera) }
            expectClosed(camera)
        }
    }

    @Test("Requests survive signals")
    func signals() throws {
        let camera = FakeCamera()
        camera.frames = [1]
        for request in [cv4l2_querycap, cv4l2_s_fmt, cv4l2_dqbuf, cv4l2_streamon] {
            camera.interruptions[request] = 3
        }
        #expect(try frame(open(camera)).bytes.first == 1)
    }

    @Test(
        "A failure during streaming is reported with its cause",
        arguments: [ENODEV: CameraFault.disconnected, EIO: .failed("")]
    )
    func dequeueFails(_ number: Int32, _ fault: CameraFault) throws {
        let camera = FakeCamera()
        camera.frames = [1, 2]
        camera.failures[cv4l2_dqbuf] = (number, 0)
        do {
            let source = try open(camera)
            let thrown = #expect(throws: CameraFault.self) { try frame(source) }
            if fault == .disconnected { #expect(thrown == fault) }
        }
        expectClosed(camera)
    }

    @Test("A buffer that cannot be queued again is a fault")
    func requeueFails() throws {
        let camera = FakeCamera()
        camera.frames = [1]
        camera.failures[cv4l2_qbuf] = (EIO, 4)
        let source = try open(camera)
        #expect(throws: CameraFault.self) { try frame(source) }
    }

    @Test("A camera without pictures, or that cannot be polled, is a fault")
    func silent() throws {
        let camera = FakeCamera()
        let source = try open(camera)
        #expect(throws: CameraFault.failed("The camera gives no pictures.")) { try frame(source) }
        camera.pollFailure = EBADF
        #expect(throws: CameraFault.self) { try frame(source) }
    }

    @Test("Broken, empty and oversized frames are skipped, up to a limit")
    func broken() throws {
        let changes: [(FakeCamera) -> Void] = [
            { $0.flags = cv4l2_flag_error }, { $0.bytesUsed = 0 }, { $0.bytesUsed = .max },
        ]
        for change in changes {
            let camera = FakeCamera()
            camera.formats = [cv4l2_grey]
            camera.frames = [UInt8](repeating: 1, count: 100)
            change(camera)
            let source = try open(camera)
            #expect(throws: CameraFault.failed("The camera gives only broken pictures.")) {
                try frame(source)
            }
        }
    }

    @Test("A buffer index out of range is a fault", arguments: [4, 9, UInt32.max])
    func foreignBuffer(_ index: UInt32) throws {
        let camera = FakeCamera()
        camera.frames = [1]
        #expect(camera.bufferCount == 4)
        camera.bufferIndex = index
        let source = try open(camera)
        #expect(throws: CameraFault.failed("The camera gave a buffer that it doesn't have.")) {
            try frame(source)
        }
    }

    @Test("An interruption ends the wait")
    func interruption() throws {
        let camera = FakeCamera()
        camera.frames = [1]
        let source = try open(camera)
        let interruption = try Interruption()
        #expect(!interruption.isRaised)
        interruption.raise()
        interruption.raise()
        #expect(interruption.isRaised)
        #expect(throws: CameraFault.interrupted) { try frame(source, interruption) }
    }

    @Test("The table of the kernel's calls returns errors as negative numbers")
    func kernel() throws {
        let kernel = VideoSystem.kernel
        #expect(kernel.open("/nothing/here") == -ENOENT)
        let descriptor = kernel.open("/dev/null")
        #expect(descriptor >= 0)
        var capability = v4l2_capability()
        #expect(kernel.ioctl(descriptor, cv4l2_querycap, &capability) == -ENOTTY)
        guard case .failure = kernel.map(descriptor, 4096, 0) else {
            Issue.record("/dev/null was mapped")
            return
        }
        var waiting = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        #expect(kernel.poll(&waiting, 0) == 1)
        kernel.close(descriptor)
        #expect(throws: CameraFault.self) { try V4L2Source(path: "/dev/null") }
    }
}
