import CV4L2
import Glibc

@testable import CameraDevice

/// A simulated camera: a table of system calls with scripted frames and failures.
final class FakeCamera {
    static let descriptor: Int32 = 77
    static let bufferSize = 640 * 480 * 2

    var formats = [cv4l2_yuyv]
    var abilities = cv4l2_cap_capture | cv4l2_cap_streaming
    var size: (width: UInt32, height: UInt32, line: UInt32) = (640, 480, 1280)
    var givenFormat: UInt32?
    var bufferCount: UInt32 = 4
    var bufferLength = UInt32(FakeCamera.bufferSize)
    var bufferIndex: UInt32?
    /// The fill byte of each frame; poll times out when none is left.
    var frames: [UInt8] = []
    var bytesUsed: UInt32?
    var flags: UInt32 = 0

    /// The errno of a request, after this many successes.
    var failures: [UInt: (errno: Int32, after: Int)] = [:]
    /// The number of times that a signal interrupts a request before it succeeds.
    var interruptions: [UInt: Int] = [:]
    var openFailure: Int32 = 0
    /// A real character device that supplies the device number.
    var device = "/dev/null"
    var mapFailure: (errno: Int32, after: Int)?
    var pollFailure: Int32 = 0

    private(set) var isOpen = false
    private(set) var isStreaming = false
    private(set) var mapped: [UnsafeMutableRawPointer: Int] = [:]
    private(set) var requests: [UInt] = []
    private var byOffset: [Int: UnsafeMutableRawPointer] = [:]
    private var queue: [UInt32] = []

    var system: VideoSystem {
        VideoSystem(
            open: { [self] _ in
                guard openFailure == 0 else { return -openFailure }
                isOpen = true
                return Self.descriptor
            },
            number: { [self] _ in DeviceNumber(of: device) },
            close: { [self] _ in isOpen = false },
            ioctl: { [self] _, request, structure in answer(request, structure) },
            map: { [self] _, length, offset in map(length, offset) },
            unmap: { [self] memory, _ in
                mapped[memory] = nil
                memory.deallocate()
            },
            poll: { [self] descriptors, _ in poll(&descriptors) }
        )
    }

    private func map(_ length: Int, _ offset: Int) -> VideoSystem.Mapping {
        if let mapFailure, mapped.count >= mapFailure.after { return .failure(mapFailure.errno) }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 16)
        mapped[memory] = length
        byOffset[offset] = memory
        return .memory(memory)
    }

    private func poll(_ descriptors: inout [pollfd]) -> Int32 {
        if pollFailure != 0 { return -pollFailure }
        // The interruption is a real descriptor.
        if Glibc.poll(&descriptors[1], 1, 0) > 0 { return 1 }
        guard !frames.isEmpty else { return 0 }
        descriptors[0].revents = Int16(POLLIN)
        return 1
    }

    private func answer(_ request: UInt, _ structure: UnsafeMutableRawPointer) -> Int32 {
        if let left = interruptions[request], left > 0 {
            interruptions[request] = left - 1
            return -EINTR
        }
        requests.append(request)
        if let failure = failures[request] {
            guard failure.after > 0 else { return -failure.errno }
            failures[request]?.after -= 1
        }
        switch request {
        case cv4l2_querycap: tellAbilities(structure)
        case cv4l2_enum_fmt: return tellFormat(structure)
        case cv4l2_s_fmt: setFormat(structure)
        case cv4l2_reqbufs:
            structure.assumingMemoryBound(to: v4l2_requestbuffers.self).pointee.count = bufferCount
        case cv4l2_querybuf:
            let buffer = structure.assumingMemoryBound(to: v4l2_buffer.self)
            buffer.pointee.length = bufferLength
            buffer.pointee.m.offset = buffer.pointee.index * 0x10000
        case cv4l2_qbuf:
            queue.append(structure.assumingMemoryBound(to: v4l2_buffer.self).pointee.index)
        case cv4l2_dqbuf: return give(structure)
        case cv4l2_streamon: isStreaming = true
        case cv4l2_streamoff: isStreaming = false
        default: return -ENOTTY
        }
        return 0
    }

    private func tellAbilities(_ structure: UnsafeMutableRawPointer) {
        let capability = structure.assumingMemoryBound(to: v4l2_capability.self)
        capability.pointee.capabilities = cv4l2_cap_device
        capability.pointee.device_caps = abilities
        withUnsafeMutableBytes(of: &capability.pointee.card) { $0.copyBytes(from: "Fake".utf8) }
    }

    private func tellFormat(_ structure: UnsafeMutableRawPointer) -> Int32 {
        let description = structure.assumingMemoryBound(to: v4l2_fmtdesc.self)
        let index = Int(description.pointee.index)
        guard index < formats.count else { return -EINVAL }
        description.pointee.pixelformat = formats[index]
        return 0
    }

    private func setFormat(_ structure: UnsafeMutableRawPointer) {
        let format = structure.assumingMemoryBound(to: v4l2_format.self)
        format.pointee.fmt.pix.width = size.width
        format.pointee.fmt.pix.height = size.height
        format.pointee.fmt.pix.bytesperline = size.line
        if let givenFormat { format.pointee.fmt.pix.pixelformat = givenFormat }
    }

    private func give(_ structure: UnsafeMutableRawPointer) -> Int32 {
        guard !frames.isEmpty, !queue.isEmpty else { return -EAGAIN }
        let buffer = structure.assumingMemoryBound(to: v4l2_buffer.self)
        let index = queue.removeFirst()
        let content = frames.removeFirst()
        if let memory = byOffset[Int(index) * 0x10000] {
            memset(memory, Int32(content), Int(bufferLength))
        }
        buffer.pointee.index = bufferIndex ?? index
        buffer.pointee.bytesused = bytesUsed ?? bufferLength
        buffer.pointee.flags = flags
        return 0
    }
}
