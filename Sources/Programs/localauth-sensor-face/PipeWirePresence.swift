import CameraDevice
import DBus

/// Whether the camera that PipeWire is to offer is there: it comes and goes with its daemon.
@BusActor final class PipeWirePresence {
    /// What is known; unknown at the beginning alone.
    private(set) var standing = PipeWireConnection.Standing.unknown
    private let address: PipeWireAddress
    private let changed: @BusActor () -> Void
    private let isKnown = ConditionVariable()
    private var connection: PipeWireConnection?
    private var source: EventSource?
    private var timer: EventSource?
    private var pause = firstPause

    /// A daemon that doesn't answer for so long does not work.
    private static let patience = Duration.seconds(5)
    /// Between two looks for a daemon that isn't there; each is twice the one before.
    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(5)

    /// Connects, and calls `changed` whenever something else is known than before.
    init(_ address: PipeWireAddress, _ changed: @escaping @BusActor () -> Void) {
        self.address = address
        self.changed = changed
        connect()
    }

    /// Returns when the daemon has answered, or won't.
    func settle() async {
        _ = await isKnown.wait(atMost: Self.patience) { standing != .unknown }
    }

    /// The identity of the camera.
    func identity() throws(CameraFault) -> CameraIdentity {
        switch standing {
        case .camera(let identity): return identity
        case .fault(let fault): throw fault
        case .unknown: throw Self.silence(of: address)
        }
    }

    /// What isn't there: one sentence for people.
    var absence: String {
        connection == nil
            ? "PipeWire doesn't run at \(address.socket)."
            : "PipeWire has no camera that is called \(address.node)."
    }

    /// Something has changed in the folder of the socket: looks for a daemon at once.
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
        // Who was seen there is not forgotten by this connection.
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

    private func know(_ now: PipeWireConnection.Standing) {
        guard now != standing else { return }
        standing = now
        isKnown.notifyAll()
        changed()
    }

    private static func silence(of address: PipeWireAddress) -> CameraFault {
        .failed("PipeWire doesn't answer at \(address.socket).")
    }
}
