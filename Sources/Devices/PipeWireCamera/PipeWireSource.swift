package import CameraDevice
import Glibc

package final class PipeWireSource: FrameSource {
    package var format: PixelFormat { connection.stream.format ?? .yuyv }
    /// The limit for an answer of the daemon and for a picture of the camera.
    private static let patience = Duration.seconds(5)
    private static let mostBroken = 10
    /// The limit for the text of a daemon in a message.
    private static let longestReason = 120

    private let connection: PipeWireConnection
    private let identity: CameraIdentity
    private let node: UInt32?

    /// Opens the expected camera and waits until the stream runs.
    ///
    /// - Throws: ``CameraFault/interrupted``, ``CameraFault/disconnected``, ``CameraFault/busy``,
    ///   ``CameraFault/untrusted(_:)``, or ``CameraFault/failed(_:)``.
    package init(
        _ address: PipeWireAddress,
        as expected: CameraIdentity,
        _ interruption: Interruption
    ) throws(CameraFault) {
        let connection = try PipeWireConnection(address)
        self.connection = connection
        identity = expected
        let silence = CameraFault.failed("PipeWire doesn't answer at \(address.socket).")
        let found = try Self.wait(for: connection, interruption, else: silence) { state in
            if case .camera(let identity) = state { identity } else { nil }
        }
        guard found == expected else {
            throw .untrusted("The camera changed: \(found), not \(expected).")
        }
        node = connection.node
        try connection.start()
        let refusal = CameraFault.failed("The camera is not started by PipeWire.")
        try Self.wait(for: connection, interruption, else: refusal) { _ in
            connection.stream.isRunning ? () : nil
        }
    }

    package func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
        // Drop a stale frame.
        connection.stream.frame = nil
        let silence = CameraFault.failed("The camera gives no pictures.")
        for _ in 0..<Self.mostBroken {
            let broken = connection.stream.broken
            try Self.wait(for: connection, interruption, else: silence) {
                state throws(CameraFault) in
                guard connection.node == node, state == .camera(identity) else {
                    throw .disconnected
                }
                let isNew = connection.stream.frame != nil || connection.stream.broken != broken
                return isNew ? () : nil
            }
            if let frame = connection.stream.frame { return frame }
        }
        throw .failed("The camera gives only broken pictures.")
    }

    /// Serves the connection until `result` returns a value or the connection fails.
    private static func wait<Result>(
        for connection: PipeWireConnection,
        _ interruption: Interruption,
        else silence: CameraFault,
        _ result: (PipeWireConnection.CameraState) throws(CameraFault) -> Result?
    ) throws(CameraFault) -> Result {
        let end = ContinuousClock.now + patience
        while true {
            let state = connection.serve()
            if case .fault(let fault) = state { throw fault }
            if let reason = connection.stream.failure { throw fault(reason) }
            if let result = try result(state) { return result }
            let left = end - ContinuousClock.now
            guard left > .zero else { throw silence }
            var waiting = [connection.descriptor, interruption.descriptor]
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&waiting, nfds_t(waiting.count), Int32(left / .milliseconds(1)) + 1)
            if waiting[1].revents != 0 { throw .interrupted }
        }
    }

    /// Derives the fault from PipeWire's text, which includes the kernel's error text.
    static func fault(_ reason: String) -> CameraFault {
        if reason.contains("busy") { return .busy }
        let plain = reason.prefix(longestReason).filter { $0.isASCII && !$0.isNewline }
        guard !plain.isEmpty else { return .failed("PipeWire can't go on with the camera.") }
        return .failed("PipeWire can't go on with the camera: \(plain).")
    }
}
