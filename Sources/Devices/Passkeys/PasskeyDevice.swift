package import DBus

/// A security key of packets: serves a request at a time, with keepalives meanwhile.
@BusActor package final class PasskeyDevice {
    private let authenticator: Authenticator
    private let send: @BusActor (PacketLayer.Packet) -> Void
    private var packets = PacketLayer()
    private var receiving: EventSource?
    private var keepalive: EventSource?
    /// Counts requests; an answer to an earlier request is dropped.
    private var current = 0
    /// The last request that its program canceled.
    private var canceled = 0
    /// The channel whose accounts and searches the authenticator remembers.
    private var channel: UInt32?
    /// A request starts when the last request has ended, also if its program gave up.
    private var last: Task<Void, Never>?

    /// Between two keepalives; CTAP wants them within 100 ms.
    private static let interval = Duration.milliseconds(80)
    /// For all packets of a message.
    private static let patience = Duration.milliseconds(800)

    package init(
        _ authenticator: Authenticator,
        send: @escaping @BusActor (PacketLayer.Packet) -> Void
    ) {
        (self.authenticator, self.send) = (authenticator, send)
    }

    package func receive(_ packet: PacketLayer.Packet) {
        let event = packets.receive(packet)
        receiving?.cancel()
        receiving = nil
        if packets.isReceiving {
            receiving = EventLoop.shared.schedule(after: Self.patience) { [weak self] in
                guard let self else { return }
                self.send(all: self.packets.timeOut())
            }
        }
        switch event {
        case nil: break
        case .answer(let packets): send(all: packets)
        case .cancel:
            canceled = current
            authenticator.cancel()
        case .abandon(let packets):
            abandon()
            send(all: packets)
        case .request(let message): serve(message)
        }
    }

    /// Ends the current request without an answer, because its program or the device is gone.
    package func close() {
        abandon()
        packets = PacketLayer()
    }

    private func abandon() {
        current += 1
        keepalive?.cancel()
        keepalive = nil
        authenticator.cancel()
        authenticator.reset()
    }

    private func serve(_ message: [UInt8]) {
        current += 1
        let (number, previous, channel) = (current, last, packets.channel)
        remind()
        last = onLoop {
            await previous?.value
            guard number == self.current else { return }
            if self.channel != channel { self.authenticator.reset() }
            self.channel = channel
            let isCanceled = number == self.canceled
            let answer = await self.authenticator.answer(message, isCanceled: isCanceled)
            // An abandoned request leaves no accounts to the next program.
            guard number == self.current else { return self.authenticator.reset() }
            self.keepalive?.cancel()
            self.keepalive = nil
            self.send(all: self.packets.answer(answer))
        }
    }

    private func remind() {
        keepalive = EventLoop.shared.schedule(after: Self.interval) { [weak self] in
            guard let self,
                let packet = packets.keepalive(waitsForPerson: authenticator.waitsForPerson)
            else { return }
            send(packet)
            remind()
        }
    }

    private func send(all packets: [PacketLayer.Packet]) {
        for packet in packets { send(packet) }
    }
}
