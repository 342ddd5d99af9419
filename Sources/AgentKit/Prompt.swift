public import DBus
import Glibc
import Linux
import LocalAuthBus

/// One prompt that the service asked for.
@BusActor public final class Prompt {
    /// The service's handle.
    public let handle: String
    /// What to show.
    public let details: PromptDetails
    /// Whether it is over; what is submitted afterwards goes nowhere.
    public private(set) var hasEnded = false

    /// Whether the app's own password is asked for now, and no longer the passcode.
    public private(set) var asksApplicationPassword: Bool

    /// What tells the rest of a delay.
    var countdown: (next: EventSource, end: ContinuousClock.Instant)?
    private var channel: OwnedDescriptor
    /// If an answer is lost, the prompt ends at the deadline, which the service reports with End.
    private let service: Authentication1Proxy
    /// Told when the service takes nothing any more.
    private let lost: @BusActor () -> Void
    /// Told when the service doesn't know the prompt any more.
    private let forgotten: @BusActor () -> Void
    private var question: EventSource?
    /// How long after a cancellation the service may take to say that the prompt has ended.
    private static let patience = Duration.seconds(5)

    /// A prompt that sends its answers to `service` and its passcodes through `channel`.
    /// - Throws: InvalidArgs when the channel isn't a `SOCK_SEQPACKET` socket: in anything else an
    ///   eavesdropper with a copy of the descriptor could read the passcode.
    init(
        handle: String,
        details: PromptDetails,
        channel: OwnedDescriptor,
        service: Authentication1Proxy,
        lost: @escaping @BusActor () -> Void,
        forgotten: @escaping @BusActor () -> Void
    ) throws(DBusError) {
        try Self.requirePackets(channel)
        asksApplicationPassword = details.stage == .applicationPassword
        self.handle = handle
        self.details = details
        self.channel = channel
        self.service = service
        self.lost = lost
        self.forgotten = forgotten
    }

    /// The user cancels.
    public func cancel() {
        guard !hasEnded else { return }
        service.sendSubmitCancel(prompt: handle)
        question?.cancel()
        question = EventLoop.shared.schedule(after: Self.patience) { [weak self] in
            onLoop { await self?.askWhetherItIsThere() }
        }
    }

    /// End may get lost: who can't cancel what is over would be left with it.
    private func askWhetherItIsThere() async {
        guard !hasEnded else { return }
        do throws(DBusError) {
            try await service.submitCancel(prompt: handle)
        } catch {
            if error.name == .accessDenied { forgotten() }
        }
    }

    /// The user takes the fallback; only after `fallbackAvailable`.
    public func fallBack() { if !hasEnded { service.sendSubmitFallback(prompt: handle) } }

    /// The user confirms a match; only after `confirmationRequired`.
    public func confirm() { if !hasEnded { service.sendSubmitConfirm(prompt: handle) } }

    private static func requirePackets(_ channel: OwnedDescriptor) throws(DBusError) {
        guard
            socketOption(channel, SO_DOMAIN) == AF_UNIX,
            socketOption(channel, SO_TYPE) == Int32(SOCK_SEQPACKET.rawValue)
        else {
            throw DBusError(.invalidArgs, "The passcode channel is not a SOCK_SEQPACKET socket.")
        }
    }

    /// From now on what is typed is the app's own password, which has a channel of its own.
    /// - Throws: InvalidArgs when it isn't a `SOCK_SEQPACKET` socket.
    func askApplicationPassword(on new: OwnedDescriptor) throws(DBusError) {
        try Self.requirePackets(new)
        channel = new
        asksApplicationPassword = true
    }

    /// Sends one passcode as one packet, straight from the memory it was typed into.
    /// - Throws: InvalidArgs when it is empty, Failed when the service doesn't take it.
    public func submit(passcode: RawSpan) throws(DBusError) {
        guard !hasEnded else { return }
        guard !passcode.isEmpty else { throw DBusError(.invalidArgs, "The passcode is empty.") }
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        // send(2) needs the address; nothing keeps it.
        let sent = passcode.withUnsafeBytes { bytes in
            send(channel.rawValue, bytes.baseAddress, bytes.count, flags)
        }
        guard sent == passcode.byteCount else {
            lost()
            throw DBusError(.failed, "The service did not take the passcode.")
        }
    }

    func end() {
        hasEnded = true
        question?.cancel()
    }
}

private func socketOption(_ socket: OwnedDescriptor, _ option: Int32) -> Int32? {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(socket.rawValue, SOL_SOCKET, option, &value, &size) == 0 else { return nil }
    return value
}
