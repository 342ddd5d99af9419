/// A camera of a PipeWire daemon: `pipewire:/run/localauth-pipewire/pipewire-0#CAMERA`.
package struct PipeWireAddress: Hashable, Sendable, CustomStringConvertible {
    package static let scheme = "pipewire:"
    private static let longestName = 96

    /// The whole path of the daemon's socket.
    package let socket: String
    /// What the daemon calls the camera: `node.name`.
    package let node: String

    /// As `--camera` has it.
    package var description: String { "\(Self.scheme)\(socket)#\(node)" }

    /// Nil unless the text has a path and a name of printable characters.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        let parts = text.dropFirst(Self.scheme.count)
            .split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("/"),
            parts[0].utf8.count <= SystemSocket.longestPath,
            (1...Self.longestName).contains(parts[1].utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        socket = String(parts[0])
        node = String(parts[1])
    }

    /// The folder in which the socket comes and goes.
    package var folder: String {
        socket.lastIndex(of: "/").map { String(socket[..<$0]) } ?? "/"
    }
}
