import Glibc

/// A camera's identity: the description that its USB device reports, and its port.
///
/// If no other connected device has the serial number, it replaces the port. The camera may then
/// move to another port or to a dock. An attacker who can imitate the serial number could use the
/// port as well.
///
/// A user enrolled with a camera is recognised by that camera only. A virtual camera can show any
/// picture, so only USB devices and cameras of a system's PipeWire have an identity.
package struct CameraIdentity: Hashable, Sendable, CustomStringConvertible {
    /// Maker, model, serial number and place, in a line of at most 255 bytes.
    package let description: String

    private static let maximumAttribute = 64
    private static let maximumDepth = 32

    package static let replay = Self(verbatim: "replay")

    private init(verbatim text: String) { description = text }

    /// The identity of a PipeWire camera: its node name and the daemon's description of the device.
    ///
    /// The daemon belongs to the system, so its description is trusted. The number of a device node
    /// is left out, because it changes from boot to boot.
    /// - Throws: ``CameraFault/untrusted(_:)`` if the identity is too long.
    package init(pipeWire name: String, _ properties: [String: String]) throws(CameraFault) {
        let place = properties["api.libcamera.path"] ?? properties["device.bus-path"] ?? ""
        let words = [place, properties["device.serial"] ?? ""].map(Self.plain)
            .map { $0.isEmpty ? "-" : $0 }
        let text = "pipewire \(name) \(words[0]) \(words[1])"
        guard text.utf8.count <= 255 else {
            throw .untrusted("\(name) has an identity that is too long.")
        }
        description = text
    }

    /// Reads the identity of a device node from the kernel.
    ///
    /// Tests set `root`, a prefix of `/dev` and `/sys`.
    /// - Throws: ``CameraFault/disconnected`` if the node is missing, ``CameraFault/untrusted(_:)``
    ///   if it is no camera on a USB port.
    package init(of path: String, root: String = "") throws(CameraFault) {
        guard let node = Self.resolve(root + path) else { throw .disconnected }
        guard let base = Self.resolve(root + "/dev"), node.hasPrefix(base + "/video"),
            let name = node.split(separator: "/").last, !name.dropFirst(5).isEmpty,
            name.dropFirst(5).allSatisfy(\.isNumber)
        else {
            throw .untrusted("\(path) is no video device.")
        }
        guard let device = Self.resolve("\(root)/sys/class/video4linux/\(name)") else {
            throw .untrusted("The kernel knows no video device \(name).")
        }
        try self.init(path, device, root) { Self.resolve($0) == node }
    }

    /// Reads the identity of an open camera, whose device number cannot be reused while it is open.
    ///
    /// - Throws: The errors of ``init(of:root:)``.
    init(opened number: DeviceNumber, root: String = "") throws(CameraFault) {
        // The kernel removes the entry when the camera is unplugged, and reuses the number only
        // after the camera is closed.
        let path = "\(root)/sys/dev/char/\(number)"
        guard let device = Self.resolve(path) else { throw .disconnected }
        try self.init("The camera", device, root) { DeviceNumber(of: $0) == number }
    }

    private init(
        _ path: String,
        _ device: String,
        _ root: String,
        isNode: (String) -> Bool
    ) throws(CameraFault) {
        guard !device.contains("/devices/virtual/") else {
            throw .untrusted(
                "\(path) is a virtual camera, so another program decides its picture. Use the "
                    + "camera itself."
            )
        }
        guard let usb = Self.deviceFolder(above: device) else {
            throw .untrusted("\(path) is no USB camera and has no identity to remember.")
        }
        guard let place = Self.place(root, isNode) else {
            throw .untrusted("\(path) has no name in /dev/v4l/by-path: is udev running?")
        }
        let maker = Self.attribute("idVendor", of: usb) ?? ""
        let model = Self.attribute("idProduct", of: usb) ?? ""
        let serial = Self.attribute("serial", of: usb) ?? ""
        guard maker.utf8.count == 4, model.utf8.count == 4 else {
            throw .untrusted("\(path) doesn't say which USB device it is.")
        }
        let isOnly = !serial.isEmpty && Self.count(maker, model, serial, root) == 1
        let function = isOnly ? Self.function(of: place) : place
        let text = "usb \(maker):\(model) \(serial.isEmpty ? "-" : serial) at \(function)"
        guard text.utf8.count <= 255 else {
            throw .untrusted("\(path) has an identity that is too long.")
        }
        description = text
    }

    /// Compares a stored identity, possibly of an earlier version, with a camera's.
    ///
    /// An earlier version stored the port even with a unique serial number.
    package static func isSame(_ written: String, as camera: String) -> Bool {
        if written == camera { return true }
        let words = written.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, words[2] != "-" else { return false }
        let moved = words.dropLast() + [Substring(function(of: String(words[4])))]
        return moved.joined(separator: " ") == camera
    }

    /// The part of a place after the port: the device's interface and the camera's index.
    private static func function(of place: String) -> String {
        place.lastIndex(of: ":").map { String(place[place.index(after: $0)...]) } ?? place
    }

    /// Counts USB devices with this maker, model and serial number; 0 without the kernel's list.
    private static func count(
        _ maker: String,
        _ model: String,
        _ serial: String,
        _ root: String
    ) -> Int {
        let folder = root + "/sys/bus/usb/devices"
        return entries(of: folder)
            .count { name in
                let device = "\(folder)/\(name)"
                return attribute("idVendor", of: device) == maker
                    && attribute("idProduct", of: device) == model
                    && attribute("serial", of: device) == serial
            }
    }

    /// Chooses a camera with an identity: the first preferred camera, or else the first of all.
    ///
    /// `isFit` decides whether a node may be used at all. Returns nil if no camera fits.
    package static func camera(
        root: String = "",
        where isFit: (String) -> Bool = { _ in true },
        preferring isPreferred: (Self) -> Bool = { _ in false }
    ) -> (device: String, identity: Self)? {
        var first: (device: String, identity: Self)?
        for device in nodes(root) {
            guard let identity = try? Self(of: device, root: root),
                first == nil || isPreferred(identity), isFit(device)
            else { continue }
            if isPreferred(identity) { return (device, identity) }
            first = (device, identity)
        }
        return first
    }

    /// Explains why no connected camera has an identity.
    ///
    /// - Returns: The ``CameraFault/untrusted(_:)`` of the first camera that takes pictures, or
    ///   ``CameraFault/disconnected`` without such a camera.
    package static func absence(root: String = "", system: VideoSystem = .kernel) -> CameraFault {
        for node in nodes(root) {
            do throws(CameraFault) {
                _ = try Self(of: node, root: root)
            } catch {
                // Decoders have device nodes too.
                if case .untrusted = error, V4L2Source.takesPictures(node, system) { return error }
            }
        }
        return .disconnected
    }

    private static func nodes(_ root: String) -> [String] {
        (0..<64).map { "/dev/video\($0)" }.filter { access(root + $0, F_OK) == 0 }
    }

    private static func deviceFolder(above path: String) -> String? {
        var folder = path[...]
        for _ in 0..<maximumDepth {
            guard let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else {
                return nil
            }
            folder = folder[..<slash]
            if access("\(folder)/idVendor", F_OK) == 0 { return String(folder) }
        }
        return nil
    }

    /// The name that udev gives to the port and to the device's function.
    private static func place(_ root: String, _ isNode: (String) -> Bool) -> String? {
        let folder = root + "/dev/v4l/by-path"
        // Sort: several links may name a node, and a directory's order is unspecified.
        return entries(of: folder).sorted()
            .first { $0.utf8.count <= 128 && isNode("\(folder)/\($0)") }
    }

    private static func entries(of folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while names.count < 1024, let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private static func attribute(_ name: String, of folder: String) -> String? {
        let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumAttribute)
        let count = read(descriptor, &bytes, bytes.count)
        return plain(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }

    /// Keeps printable ASCII only: the maker, or an attacker, chose a serial number's bytes.
    private static func plain(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
    }

    private static func resolve(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
