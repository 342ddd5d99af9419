/// A signal handler; nil fields match any signal.
@BusActor
struct Subscription {
    let sender: String
    let path: String?
    let member: String?
    let source: EventSource
    let body: @BusActor (Message) -> Void
}

extension Connection {
    /// Calls `body` for each matching signal from exactly `sender`.
    ///
    /// - Parameters:
    ///   - sender: A unique name, or `org.freedesktop.DBus`; other names never match.
    ///   - path: The object; nil matches any.
    ///   - interface: The signal's interface.
    ///   - member: The signal's name; nil matches any.
    ///   - broadcast: Whether to ask the bus for broadcast signals.
    ///   - body: Called in the order of arrival.
    /// - Returns: A source that ends the subscription when canceled.
    public func subscribe(
        sender: String,
        path: ObjectPath?,
        interface: String,
        member: String?,
        broadcast: Bool,
        _ body: @escaping @BusActor (Message) -> Void
    ) -> EventSource {
        var rule = "type='signal',sender='\(sender)',interface='\(interface)'"
        if let member {
            rule += ",member='\(member)'"
        }
        if let path {
            rule += ",path='\(path.rawValue)'"
        }
        let box = SourceBox()
        let source = EventSource { [weak self] in
            self?.subscriptions[interface]?.removeAll { $0.source === box.source }
            if self?.subscriptions[interface]?.isEmpty == true {
                self?.subscriptions[interface] = nil
            }
            if broadcast {
                self?.removeMatch(rule)
            }
        }
        box.source = source
        let subscription = Subscription(
            sender: sender,
            path: path?.rawValue,
            member: member,
            source: source,
            body: body
        )
        subscriptions[interface, default: []].append(subscription)
        if broadcast {
            addMatch(rule)
        }
        return source
    }

    func addMatch(_ rule: String) {
        sendToBus("AddMatch", rule)
    }

    func removeMatch(_ rule: String) {
        sendToBus("RemoveMatch", rule)
    }

    private func sendToBus(_ member: String, _ rule: String) {
        send(
            to: "org.freedesktop.DBus",
            path: .bus,
            interface: "org.freedesktop.DBus",
            member: member,
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(rule)
        }
    }

    func receive(signal message: Message) {
        guard let interface = message.interface else { return }
        if interface == "org.freedesktop.DBus", isFromBus(message),
            message.member == "NameOwnerChanged"
        {
            nameOwnerChanged(message)
        }
        guard let candidates = subscriptions[interface] else { return }
        let sender = message.sender
        let path = message.path
        let member = message.member
        for candidate in candidates {
            guard candidate.sender == sender else { continue }
            guard candidate.path == nil || candidate.path == path else { continue }
            guard candidate.member == nil || candidate.member == member else { continue }
            // An earlier body may have ended this one.
            guard !candidate.source.isOver else { continue }
            candidate.body(message)
        }
    }

    private func isFromBus(_ message: Message) -> Bool {
        message.sender == "org.freedesktop.DBus"
    }
}

extension ObjectPath {
    /// The object of the bus itself.
    static let bus = ObjectPath(trusted: "/org/freedesktop/DBus")
}

/// Lets a source's own closure refer to the source without a retain cycle.
@BusActor
final class SourceBox {
    weak var source: EventSource?
}
