import Glibc

/// Plays a file of concatenated JPEG pictures like a camera.
///
/// A file plays in a loop at 30 pictures a second. A named pipe delivers each picture as soon as it
/// is written.
package final class ReplaySource: FrameSource {
    /// Milliseconds between two frames of a file.
    static let pace: Int32 = 33
    private static let chunk = 1 << 16

    package let format = PixelFormat.mjpg
    private let path: String
    private let descriptor: Int32
    private let isPipe: Bool
    private var splitter = JPEGSplitter()
    private var hasPicture = false
    private var next = ContinuousClock.now

    /// Opens a file or a named pipe.
    ///
    /// Pictures already in the pipe are skipped.
    ///
    /// - Throws: ``CameraFault/disconnected`` if it is missing, or ``CameraFault/failed(_:)``.
    package init(path: String) throws(CameraFault) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else { throw .disconnected }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG || kind == S_IFIFO else {
            throw .failed("\(path) is neither a file nor a named pipe.")
        }
        isPipe = kind == S_IFIFO
        // Open the pipe for writing too, so that it has no end of file when its writer exits.
        let mode = isPipe ? O_RDWR : O_RDONLY
        descriptor = open(path, mode | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .failed("\(path) can't be read: \(String(cString: strerror(errno))).")
        }
        if isPipe { drain() }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
        if !isPipe { try keepPace(interruption) }
        while true {
            if let picture = splitter.next() {
                hasPicture = true
                return Frame(jpeg: picture)
            }
            if interruption.isRaised { throw .interrupted }
            try readMore(interruption)
        }
    }

    private func keepPace(_ interruption: Interruption) throws(CameraFault) {
        let left = next - ContinuousClock.now
        if left > .zero {
            let milliseconds = Int32(left / .milliseconds(1)) + 1
            try wait([interruption.descriptor], milliseconds)
        }
        next = ContinuousClock.now + .milliseconds(Self.pace)
    }

    private func readMore(_ interruption: Interruption) throws(CameraFault) {
        if isPipe { try wait([interruption.descriptor, descriptor], -1) }
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 {
            splitter.append(bytes.prefix(count))
        } else if count == 0 && !isPipe {
            guard hasPicture, lseek(descriptor, 0, SEEK_SET) == 0 else {
                throw .failed("\(path) holds no JPEG picture.")
            }
            hasPicture = false
            splitter.reset()
        } else if count < 0 && errno != EAGAIN && errno != EINTR {
            throw .failed("\(path) can't be read: \(String(cString: strerror(errno))).")
        }
    }

    /// Waits until a descriptor is readable; the first has to be the interruption's.
    private func wait(
        _ descriptors: [Int32],
        _ milliseconds: Int32
    ) throws(CameraFault) {
        var waiting = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&waiting, nfds_t(waiting.count), milliseconds)
        if waiting[0].revents != 0 { throw .interrupted }
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
