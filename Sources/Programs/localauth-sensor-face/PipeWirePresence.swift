import CameraDevice
import DBus
import PipeWireCamera

/// Tracks whether the PipeWire camera is present; it comes and goes with its daemon.
@BusActor final class PipeWirePresence {
    /// `unknown` only until the daemon first answers.
    private(set) var cameraState = PipeWireConnection.CameraState.unknown
    private let address: PipeWireAddress
    private let changed: @BusActor () -> Void
    private let isKnown = ConditionVariable()
    private var connection: PipeWireConnection?
    private var source: EventSource?
    private var timer: EventSource?
    private var pause = firstPause

    /// A daemon that does not answer within this time counts as broken.
    private static let patience = Duration.seconds(5)
    /// Back-off between attempts to reach a missing daemon; doubles each time.
    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(5)

    /// Connects, and calls `changed` after each change of `cameraState`.
    init(_ address: PipeWireAddress, _ changed: @escaping @BusActor () -> Void) {
        self.address = address
        self.changed = changed
        connect()
    }

    /// Waits until the daemon has answered or timed out.
    func settle() async {
        _ = await isKnown.wait(atMost: Self.patience) { cameraState != .unknown }
    }

    func identity() throws(CameraFault) -> CameraIdentity {
        switch cameraState {
        case .camera(let identity): return identity
        case .fault(let fault): throw fault
        case .unknown: throw Self.silence(of: address)
        }
    }

    var absence: String {
        connection == nil
            ? "PipeWire doesn't run at \(address.socket)."
            : "PipeWire has no camera that is called \(address.node)."
    }

    /// Retries at once, after a change in the socket's folder.
    func lookAgain() {
        guard connection == nil else { return }
        pause = Self.firstPause
        connect()
    }

    private func connect() {
        timer?.cancel()
        do throws(CameraFault) {
            let connection = try PipeWireConnection(address)
            self.connection = connection
            source = EventLoop.shared.watch(descriptor: connection.descriptor) { [weak self] in
                self?.serve()
            }
            timer = EventLoop.shared.schedule(after: Self.patience) { [weak self] in
                guard let self else { return }
                know(.fault(Self.silence(of: address)))
            }
            serve()
        } catch {
            tryLater(after: error)
        }
    }

    private func serve() {
        guard let connection else { return }
        let now = connection.serve()
        guard now != .unknown else { return }
        timer?.cancel()
        guard !connection.hasEnded else { return tryLater(after: .disconnected) }
        // Reconnect after a fault, but not when the camera is merely away: this connection
        // remembers which camera it saw.
        if case .fault(let fault) = now, fault != .disconnected { return tryLater(after: fault) }
        pause = Self.firstPause
        know(now)
    }

    private func tryLater(after fault: CameraFault) {
        source?.cancel()
        connection = nil
        timer = EventLoop.shared.schedule(after: pause) { [weak self] in self?.connect() }
        pause = min(pause * 2, Self.longestPause)
        know(.fault(fault))
    }

    private func know(_ now: PipeWireConnection.CameraState) {
        guard now != cameraState else { return }
        cameraState = now
        isKnown.notifyAll()
        changed()
    }

    private static func silence(of address: PipeWireAddress) -> CameraFault {
        .failed("PipeWire doesn't answer at \(address.socket).")
    }
}
