import CV4L2
import Glibc

@testable import CameraDevice
@testable import PipeWireCamera

/// Cameras and their interfaces.
enum Cameras {
    /// Cuts bytes into pictures.
    ///
    /// The result must not depend on the chunks in which bytes arrive.
    static func cutPictures(_ bytes: [UInt8]) {
        func pictures(_ step: Int) -> [[UInt8]] {
            var splitter = JPEGSplitter()
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: bytes.count, by: step) {
                splitter.append(bytes[start..<min(start + step, bytes.count)])
                while let picture = splitter.next() { found.append(picture) }
            }
            return found
        }
        let found = pictures(max(1, bytes.count))
        for picture in found { precondition(picture.starts(with: [0xFF, 0xD8])) }
        precondition(pictures(1) == found)
    }

    /// Looks through a camera with a driver that writes any bytes into its answers.
    static func look(_ bytes: [UInt8]) {
        let driver = Driver(bytes)
        if let interruption = try? Interruption(),
            let camera = try? V4L2Source(path: "/dev/video0", system: driver.system)
        {
            while !driver.isSilent, let frame = try? camera.nextFrame(interruption) {
                precondition((1...Frame.maximumBytes).contains(frame.bytes.count))
            }
        }
        precondition(driver.isClosed)
    }

    /// Feeds any object changes to the graph of PipeWire.
    static func hearOfObjects(_ bytes: [UInt8]) {
        let keys = [
            "object.serial", "object.linger", "client.id", "pipewire.sec.uid", "node.name",
            "media.class", "api.libcamera.path", "device.bus-path", "device.serial", "other",
        ]
        let values = ["camera", "Video/Source", "0", "1", "2", "false"]
        var input = Foreign(bytes)
        var graph = PipeWireGraph(own: 1000)
        while !input.isAtEnd {
            // Few ids, so that events meet on an id.
            let id = UInt32(input.byte() % 8)
            switch input.byte() % 8 {
            case 0: graph.add(id, isClient: true)
            case 1: graph.add(id, isClient: false)
            case 2: graph.remove(id)
            case 3: graph.set(input.one(of: keys), of: id, to: input.text())
            default: graph.set(input.one(of: keys), of: id, to: input.one(of: values))
            }
            guard let node = try? graph.camera("camera"), let entry = graph.entries[node] else {
                continue
            }
            precondition(!entry.isClient && entry.properties["media.class"] == "Video/Source")
            let identity = try? CameraIdentity(pipeWire: "camera", entry.properties)
            precondition((identity?.description.utf8.count ?? 0) <= 255)
        }
        _ = CameraIdentity.isSame(String(decoding: bytes, as: UTF8.self), as: "usb - at -")
        _ = PipeWireSource.fault(String(decoding: bytes, as: UTF8.self))
    }
}

/// A correct driver, except that the input overwrites parts of its answers.
private final class Driver {
    private var input: Foreign
    private var isOpen = false
    private var mapped: Set<UnsafeMutableRawPointer> = []

    init(_ bytes: [UInt8]) { input = Foreign(bytes) }

    var isSilent: Bool { input.isAtEnd }

    /// Whether all memory and descriptors were given back.
    var isClosed: Bool { !isOpen && mapped.isEmpty }

    var system: VideoSystem {
        VideoSystem(
            open: { [self] _ in
                isOpen = true
                return 77
            },
            number: { _ in nil },
            close: { [self] _ in isOpen = false },
            ioctl: { [self] _, request, structure in answer(request, structure) },
            map: { [self] _, length, _ in
                guard input.byte() % 16 != 1 else { return .failure(ENOMEM) }
                // Allocate exactly the promised length, so that a sanitizer reports a read past its
                // end.
                let memory = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 16)
                mapped.insert(memory)
                return .memory(memory)
            },
            unmap: { [self] memory, _ in
                precondition(mapped.remove(memory) != nil)
                memory.deallocate()
            },
            poll: { [self] descriptors, _ in
                guard !input.isAtEnd else { return 0 }
                descriptors[0].revents = Int16(input.byte() % 16 == 1 ? POLLERR : POLLIN)
                return 1
            }
        )
    }

    private func answer(_ request: UInt, _ structure: UnsafeMutableRawPointer) -> Int32 {
        let result = answerWell(request, structure)
        let choice = input.byte()
        // A driver at the end of its input is unplugged.
        if input.isAtEnd, choice == 0, request == cv4l2_dqbuf { return -ENODEV }
        guard choice % 4 != 1 else { return input.isAtEnd ? -ENODEV : -Int32(input.byte() % 64) }
        guard choice % 4 == 2 else { return result }
        // The request encodes the size of the structure.
        let size = Int(request >> 16 & 0x3FFF)
        let start = Int(input.byte()) % max(1, size)
        for (index, byte) in input.take(min(Int(input.byte()), size - start)).enumerated() {
            structure.storeBytes(of: byte, toByteOffset: start + index, as: UInt8.self)
        }
        return result
    }

    private func answerWell(_ request: UInt, _ structure: UnsafeMutableRawPointer) -> Int32 {
        let buffer = structure.assumingMemoryBound(to: v4l2_buffer.self)
        switch request {
        case cv4l2_querycap:
            structure.assumingMemoryBound(to: v4l2_capability.self).pointee.capabilities =
                cv4l2_cap_capture | cv4l2_cap_streaming
        case cv4l2_enum_fmt:
            let formats = [cv4l2_yuyv, cv4l2_nv12, cv4l2_mjpg, cv4l2_grey]
            let description = structure.assumingMemoryBound(to: v4l2_fmtdesc.self)
            guard description.pointee.index == 0 else { return -EINVAL }
            description.pointee.pixelformat = input.one(of: formats)
        case cv4l2_reqbufs:
            structure.assumingMemoryBound(to: v4l2_requestbuffers.self).pointee.count = 2
        case cv4l2_querybuf: buffer.pointee.length = 64
        case cv4l2_dqbuf:
            buffer.pointee.index = UInt32(input.byte() % 2)
            buffer.pointee.bytesused = 64
        default: break
        }
        return 0
    }
}
