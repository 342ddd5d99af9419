package import Glibc

/// Owns a file descriptor, and closes it when the last reference goes.
package final class OwnedDescriptor: Hashable, Sendable {
    /// Valid while this object lives.
    package let rawValue: Int32
    private let closed: (@Sendable () -> Void)?

    /// Takes over a descriptor.
    ///
    /// From then on, no other code may close it.
    package init(adopting descriptor: Int32) {
        rawValue = descriptor
        closed = nil
    }

    /// Takes over a descriptor, and calls `closed` on the thread that drops the last reference.
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

    /// Compares by identity, not by the open file.
    package static func == (left: OwnedDescriptor, right: OwnedDescriptor) -> Bool {
        left === right
    }

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

    /// Reads up to the end; nil if reading fails or there are more than `limit` bytes.
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

    /// Writes all bytes; false with the reason in `errno`.
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
