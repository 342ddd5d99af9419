package import Glibc

/// Owns one file descriptor, and closes it when the last reference goes.
package final class OwnedDescriptor: Hashable, Sendable {
    /// The number; valid while this object lives.
    package let rawValue: Int32
    private let closed: (@Sendable () -> Void)?

    /// Takes over a descriptor: from now on nobody else may close it.
    package init(adopting descriptor: Int32) {
        rawValue = descriptor
        closed = nil
    }

    /// The same, and calls `closed` on whatever thread the last reference goes.
    package init(adopting descriptor: Int32, closed: @escaping @Sendable () -> Void) {
        rawValue = descriptor
        self.closed = closed
    }

    deinit {
        if rawValue >= 0 {
            close(rawValue)
        }
        closed?()
    }

    /// The same object, not the same open file.
    package static func == (left: OwnedDescriptor, right: OwnedDescriptor) -> Bool {
        left === right
    }

    /// By identity.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension OwnedDescriptor {
    /// Opens a file, closed on exec; nil with the reason in `errno`.
    package static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) -> OwnedDescriptor? {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, mode)
        return descriptor < 0 ? nil : OwnedDescriptor(adopting: descriptor)
    }

    /// Everything from here to the end; nil when it can't be read, or is longer than `limit` bytes.
    package func content(limit: Int) -> [UInt8]? {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit + 1, 65_536))
        while true {
            let count = read(rawValue, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, content.count + count <= limit else { return nil }
            if count == 0 { return content }
            content += chunk[..<count]
        }
    }

    /// Writes all of it; false with the reason in `errno`.
    package func write(_ content: [UInt8]) -> Bool {
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
