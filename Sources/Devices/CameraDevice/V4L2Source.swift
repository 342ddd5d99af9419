import CV4L2
import Glibc

/// A V4L2 camera with memory-mapped streaming of YUYV, NV12, I420, MJPG or GREY.
package final class V4L2Source: FrameSource {
    /// The requested size; the driver may choose another.
    static let wanted = (width: 640, height: 480)
    static let buffers: UInt32 = 4
    /// Milliseconds without a picture before the camera counts as broken.
    static let patience: Int32 = 3_000
    private static let maximumFormats: UInt32 = 64
    private static let maximumBadFrames = 30

    private struct Buffer {
        // SAFETY: shared with the driver, and unmapped only in `deinit`.
        let memory: UnsafeMutableRawPointer
        let length: Int
    }

    package private(set) var format = PixelFormat.yuyv
    package private(set) var name = ""
    private let system: VideoSystem
    private let descriptor: Int32
    private var size = (width: 0, height: 0, stride: 0)
    private var mapped: [Buffer] = []
    private var isStreaming = false

    /// Opens a camera and starts streaming.
    ///
    /// - Throws: ``CameraFault/busy``, ``CameraFault/disconnected``, or ``CameraFault/failed(_:)``.
    package init(path: String, system: VideoSystem = .kernel) throws(CameraFault) {
        self.system = system
        descriptor = system.open(path)
        guard descriptor >= 0 else { throw Self.fault(descriptor, "The camera can't be opened") }
        try checkAbilities()
        try chooseFormat()
        try mapBuffers()
        for index in mapped.indices { try queue(UInt32(index)) }
        var type = cv4l2_capture
        try request(cv4l2_streamon, &type, "The camera can't be started")
        isStreaming = true
    }

    /// The number of the open device, even if its node has changed.
    var number: DeviceNumber? { system.number(descriptor) }

    /// Returns whether a camera is infrared; opens it briefly without streaming.
    ///
    /// - Throws: The errors of ``init(path:system:)``.
    package static func isInfrared(
        _ path: String,
        system: VideoSystem = .kernel
    ) throws(CameraFault) -> Bool {
        try V4L2Source(probing: path, system).format == .grey
    }

    /// Returns whether a node belongs to a camera and not to a codec; opens it briefly.
    ///
    /// Includes a camera on the processor's own bus that offers multi-planar capture only, although
    /// this module cannot use it.
    static func takesPictures(_ path: String, _ system: VideoSystem) -> Bool {
        guard let able = try? V4L2Source(opening: path, system).abilities() else { return false }
        return able & (cv4l2_cap_capture | cv4l2_cap_planes) != 0 && able & cv4l2_cap_codec == 0
    }

    private init(opening path: String, _ system: VideoSystem) throws(CameraFault) {
        self.system = system
        descriptor = system.open(path)
        guard descriptor >= 0 else { throw Self.fault(descriptor, "The camera can't be opened") }
    }

    private convenience init(probing path: String, _ system: VideoSystem) throws(CameraFault) {
        try self.init(opening: path, system)
        try checkAbilities()
        _ = try findFormat()
    }

    deinit {
        if isStreaming {
            var type = cv4l2_capture
            _ = withUnsafeMutableBytes(of: &type) { bytes in
                bytes.baseAddress.map { system.ioctl(descriptor, cv4l2_streamoff, $0) }
            }
        }
        for buffer in mapped { system.unmap(buffer.memory, buffer.length) }
        if descriptor >= 0 { system.close(descriptor) }
    }

    /// Waits for a frame: the newest of an ordinary camera, or the next of an infrared camera.
    package func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
        var bad = 0
        while bad < Self.maximumBadFrames {
            try wait(interruption)
            if let frame = try newestFrame() { return frame }
            bad += 1
        }
        throw .failed("The camera gives only broken pictures.")
    }

    // MARK: Setting up

    private func abilities() throws(CameraFault) -> UInt32 {
        var abilities = v4l2_capability()
        try request(cv4l2_querycap, &abilities, "This is no camera")
        name = withUnsafeBytes(of: abilities.card) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let isPart = abilities.capabilities & cv4l2_cap_device != 0
        return isPart ? abilities.device_caps : abilities.capabilities
    }

    private func checkAbilities() throws(CameraFault) {
        let able = try abilities()
        guard able & cv4l2_cap_capture != 0, able & cv4l2_cap_streaming != 0 else {
            throw .failed("The device takes no pictures, or can't stream them.")
        }
    }

    /// Sets ``format`` and returns the driver's code for it.
    private func findFormat() throws(CameraFault) -> UInt32 {
        var offered: Set<UInt32> = []
        for index in 0..<Self.maximumFormats {
            var description = v4l2_fmtdesc()
            description.index = index
            description.type = cv4l2_capture
            let result = attempt(cv4l2_enum_fmt, &description)
            if result == -EINVAL { break }
            guard result >= 0 else {
                throw Self.fault(result, "The camera doesn't tell its formats")
            }
            offered.insert(description.pixelformat)
        }
        // Prefer formats without a decoder, because a hostile camera would attack the decoder.
        let known: [(UInt32, PixelFormat)] = [
            (cv4l2_yuyv, .yuyv), (cv4l2_nv12, .nv12), (cv4l2_i420, .i420), (cv4l2_mjpg, .mjpg),
            (cv4l2_jpeg, .mjpg), (cv4l2_grey, .grey),
        ]
        guard let (code, format) = known.first(where: { offered.contains($0.0) }) else {
            throw .failed("The camera has none of the formats YUYV, NV12, I420, MJPG and GREY.")
        }
        self.format = format
        return code
    }

    private func chooseFormat() throws(CameraFault) {
        let code = try findFormat()
        var wanted = v4l2_format()
        wanted.type = cv4l2_capture
        wanted.fmt.pix.width = UInt32(Self.wanted.width)
        wanted.fmt.pix.height = UInt32(Self.wanted.height)
        wanted.fmt.pix.pixelformat = code
        wanted.fmt.pix.field = cv4l2_field_none
        try request(cv4l2_s_fmt, &wanted, "The camera refuses its format")
        let given = wanted.fmt.pix
        guard given.pixelformat == code else {
            throw .failed("The camera gives another format than it was asked for.")
        }
        let pixel = format == .yuyv ? 2 : 1
        guard (16...1920).contains(given.width), (16...1920).contains(given.height),
            given.bytesperline <= 1 << 16
        else {
            throw .failed("The camera gives pictures of \(given.width)x\(given.height) pixels.")
        }
        let line = max(Int(given.bytesperline), Int(given.width) * pixel)
        size = (Int(given.width), Int(given.height), line)
    }

    private func mapBuffers() throws(CameraFault) {
        var wish = v4l2_requestbuffers()
        wish.count = Self.buffers
        wish.type = cv4l2_capture
        wish.memory = cv4l2_memory_mapped
        try request(cv4l2_reqbufs, &wish, "The camera gives no buffers")
        guard (2...32).contains(wish.count) else {
            throw .failed("The camera gives \(wish.count) buffers.")
        }
        for index in 0..<wish.count {
            var buffer = Self.buffer(index)
            try request(cv4l2_querybuf, &buffer, "The camera doesn't tell its buffers")
            let length = Int(buffer.length)
            guard (1...Frame.maximumBytes).contains(length) else {
                throw .failed("The camera has buffers of \(length) bytes.")
            }
            switch system.map(descriptor, length, Int(buffer.m.offset)) {
            case .memory(let memory): mapped.append(Buffer(memory: memory, length: length))
            case .failure(let number): throw Self.fault(-number, "A buffer can't be mapped")
            }
        }
    }

    // MARK: Frames

    private func wait(_ interruption: Interruption) throws(CameraFault) {
        var waiting = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        var result: Int32
        repeat { result = system.poll(&waiting, Self.patience) } while result == -EINTR
        guard result >= 0 else { throw Self.fault(result, "The camera can't be waited for") }
        if waiting[1].revents != 0 { throw .interrupted }
        guard result > 0 else { throw .failed("The camera gives no pictures.") }
        // If poll() reports an error, the next request fails with its cause.
    }

    /// Returns nil if no usable frame has arrived.
    private func newestFrame() throws(CameraFault) -> Frame? {
        var frame: Frame?
        var isEmpty = false
        for _ in 0..<mapped.count {
            var buffer = Self.buffer(0)
            let result = attempt(cv4l2_dqbuf, &buffer)
            if result == -EAGAIN {
                isEmpty = true
                break
            }
            guard result >= 0 else { throw Self.fault(result, "The camera gave no picture") }
            guard Int(buffer.index) < mapped.count else {
                throw .failed("The camera gave a buffer that it doesn't have.")
            }
            frame = copy(buffer) ?? frame
            try queue(buffer.index)
            // Infrared frames alternate between lit and dark; skipping a frame would hide that.
            if format == .grey { break }
        }
        return isEmpty && frame == nil ? nil : frame
    }

    private func copy(_ buffer: v4l2_buffer) -> Frame? {
        let memory = mapped[Int(buffer.index)]
        let count = Int(buffer.bytesused)
        guard buffer.flags & cv4l2_flag_error == 0, count > 0, count <= memory.length else {
            return nil
        }
        // SAFETY: copy before queueing the buffer again: the driver may write to it from then on.
        let bytes = Array(UnsafeRawBufferPointer(start: memory.memory, count: count))
        if format == .mjpg { return Frame(jpeg: bytes) }
        return Frame(
            format: format,
            width: size.width,
            height: size.height,
            stride: size.stride,
            bytes: bytes
        )
    }

    private func queue(_ index: UInt32) throws(CameraFault) {
        var buffer = Self.buffer(index)
        try request(cv4l2_qbuf, &buffer, "The camera doesn't take its buffer back")
    }

    private static func buffer(_ index: UInt32) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = index
        buffer.type = cv4l2_capture
        buffer.memory = cv4l2_memory_mapped
        return buffer
    }

    // MARK: Requests

    /// Returns the kernel's answer.
    ///
    /// Retries a request that a signal interrupted.
    private func attempt<Structure>(
        _ number: UInt,
        _ structure: inout Structure
    ) -> Int32 {
        withUnsafeMutableBytes(of: &structure) { bytes in
            guard let start = bytes.baseAddress else { return -EFAULT }
            var result: Int32
            repeat { result = system.ioctl(descriptor, number, start) } while result == -EINTR
            return result
        }
    }

    private func request<Structure>(
        _ number: UInt,
        _ structure: inout Structure,
        _ complaint: String
    ) throws(CameraFault) {
        let result = attempt(number, &structure)
        guard result >= 0 else { throw Self.fault(result, complaint) }
    }

    private static func fault(_ result: Int32, _ complaint: String) -> CameraFault {
        switch -result {
        case EBUSY: .busy
        case ENOENT, ENODEV, ENXIO: .disconnected
        case let number: .failed("\(complaint): \(String(cString: strerror(number))).")
        }
    }
}
