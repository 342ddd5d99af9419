import CV4L2
package import Glibc

/// The system calls that drive a camera; tests replace them.
///
/// Each function returns the kernel's result, or a negative errno.
package struct VideoSystem {
    /// Opens a device node for reading and writing, without blocking.
    package var open: (_ path: String) -> Int32
    /// The number of an open device; nil if it is no character device.
    package var number: (_ descriptor: Int32) -> DeviceNumber?
    package var close: (_ descriptor: Int32) -> Void
    // SAFETY: the pointer has to match the structure of the request, which the kernel accesses.
    /// Makes a V4L2 request.
    package var ioctl: (_ descriptor: Int32, UInt, UnsafeMutableRawPointer) -> Int32
    // SAFETY: device memory, valid until `unmap`.
    package var map: (_ descriptor: Int32, _ length: Int, _ offset: Int) -> Mapping
    // SAFETY: the pointer has to come from `map`.
    package var unmap: (UnsafeMutableRawPointer, _ length: Int) -> Void
    /// Waits until a descriptor is readable; milliseconds.
    package var poll: (_ descriptors: inout [pollfd], _ milliseconds: Int32) -> Int32

    package enum Mapping {
        // SAFETY: valid until it is unmapped.
        case memory(UnsafeMutableRawPointer)
        /// A positive errno.
        case failure(Int32)
    }

    package init(
        open: @escaping (String) -> Int32,
        number: @escaping (Int32) -> DeviceNumber?,
        close: @escaping (Int32) -> Void,
        ioctl: @escaping (Int32, UInt, UnsafeMutableRawPointer) -> Int32,
        map: @escaping (Int32, Int, Int) -> Mapping,
        unmap: @escaping (UnsafeMutableRawPointer, Int) -> Void,
        poll: @escaping (inout [pollfd], Int32) -> Int32
    ) {
        self.open = open
        self.number = number
        self.close = close
        self.ioctl = ioctl
        self.map = map
        self.unmap = unmap
        self.poll = poll
    }

    package static var kernel: Self {
        Self(
            open: { path in
                let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
                return descriptor >= 0 ? descriptor : -errno
            },
            number: { DeviceNumber(ofDescriptor: $0) },
            close: { descriptor in _ = Glibc.close(descriptor) },
            ioctl: { descriptor, request, structure in
                let result = cv4l2_ioctl(descriptor, request, structure)
                return result >= 0 ? result : -errno
            },
            map: { descriptor, length, offset in
                let memory = mmap(
                    nil,
                    length,
                    PROT_READ | PROT_WRITE,
                    MAP_SHARED,
                    descriptor,
                    offset
                )
                guard let memory, memory != MAP_FAILED else { return .failure(errno) }
                return .memory(memory)
            },
            unmap: { memory, length in _ = munmap(memory, length) },
            poll: { descriptors, milliseconds in
                let result = Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
                return result >= 0 ? result : -errno
            }
        )
    }
}
