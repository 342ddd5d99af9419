internal import CLinux
internal import CameraDevice
internal import Glibc
internal import Linux

/// Connects to the socket of a program that belongs to the system and not to a person.
///
/// Anyone who runs PipeWire, or may connect to it, can feed it any picture. Therefore both must be
/// users of the system.
enum SystemSocket {
    /// Users of the system have lower numbers, as in login.defs(5).
    static let firstPerson: uid_t = 1000
    /// The longest path that fits into a `sockaddr_un`.
    static let longestPath = 107

    /// Connects without waiting.
    ///
    /// - Throws: ``CameraFault/disconnected`` without a listener, ``CameraFault/untrusted(_:)`` if
    ///   it is a person's or open to everyone, ``CameraFault/failed(_:)`` otherwise.
    static func connect(to path: String) throws(CameraFault) -> Int32 {
        // Check the prefix first: the sensor's unit hides these folders, so they would seem to be
        // missing.
        guard !path.hasPrefix("/run/user/") else {
            throw .untrusted(
                "\(path) is the PipeWire of a session. The session's user can feed it any picture."
            )
        }
        guard let name = realpath(path, nil) else { throw fault(errno, path) }
        defer { free(name) }
        let place = String(cString: name)
        try checkFolders(above: place)
        try checkSocket(place)

        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard place.utf8.count <= longestPath else {
            throw .failed("The path \(place) of PipeWire is too long.")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place.utf8) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw fault(errno, path) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, size)
            }
        }
        let number = result == 0 ? 0 : errno
        do throws(CameraFault) {
            guard number == 0 else { throw fault(number, path) }
            try checkPeer(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Returns whether a user belongs to the system, as root does.
    static func isOfSystem(_ user: uid_t) -> Bool { user < firstPerson }

    /// Refuses folders in which another user could replace the socket.
    private static func checkFolders(above place: String) throws(CameraFault) {
        var folder = place[...]
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            let path = folder.isEmpty ? "/" : String(folder)
            var status = stat()
            guard stat(path, &status) == 0 else { throw fault(errno, path) }
            try checkOwner(path, status.st_uid)
            let isOpen = status.st_mode & (S_IWGRP | S_IWOTH) != 0
            guard !isOpen || status.st_mode & S_ISVTX != 0 else {
                throw .untrusted("Others can change \(path), the folder of PipeWire's socket.")
            }
        }
    }

    private static func checkSocket(_ path: String) throws(CameraFault) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw fault(errno, path) }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .failed("\(path) is no socket of PipeWire.")
        }
        try checkOwner(path, status.st_uid)
        guard status.st_mode & S_IWOTH == 0 else {
            throw .untrusted(
                "Any user may connect to \(path) and feed PipeWire any picture."
            )
        }
    }

    /// Asks the kernel who owns the listener: the files may have changed since the other checks.
    private static func checkPeer(of descriptor: Int32, _ path: String) throws(CameraFault) {
        var peer = ucred()
        var size = socklen_t(MemoryLayout<ucred>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else {
            throw fault(errno, path)
        }
        try checkOwner(path, peer.uid)
    }

    private static func checkOwner(_ path: String, _ user: uid_t) throws(CameraFault) {
        guard isOfSystem(user) else {
            throw .untrusted(
                "\(path) belongs to the user \(user). The sensor takes only PipeWire of the system."
            )
        }
    }

    private static func fault(_ number: Int32, _ path: String) -> CameraFault {
        switch number {
        case ENOENT, ENOTDIR, ECONNREFUSED: .disconnected
        case EACCES, EPERM: .failed("\(path) of PipeWire is closed to the user \(geteuid()).")
        case EAGAIN: .failed("PipeWire doesn't answer at \(path).")
        default: .failed("\(path) of PipeWire: \(String(cString: strerror(number))).")
        }
    }
}
