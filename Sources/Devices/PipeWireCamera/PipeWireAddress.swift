/// A camera of a PipeWire daemon: `pipewire:/run/localauth-pipewire/pipewire-0#CAMERA`.
package struct PipeWireAddress: Hashable, Sendable, CustomStringConvertible {
    package static let scheme = "pipewire:"
    private static let longestName = 96

    package let socket: String
    /// The camera's `node.name` at the daemon.
    package let node: String

    /// The text for `--camera`.
    package var description: String { "\(Self.scheme)\(socket)#\(node)" }

    /// Returns nil unless the text has a path and a name of printable characters.
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

    /// The folder of the socket, for watching whether the daemon starts or stops.
    package var folder: String {
        socket.lastIndex(of: "/").map { String(socket[..<$0]) } ?? "/"
    }
}
