package import DBus

/// Follows logind to tell whether the machine is going to sleep.
@BusActor package final class SleepWatch {
    /// True from the preparation of sleep until the machine has resumed.
    package private(set) var isAsleep = false

    private let connection: Connection
    private let changed: @BusActor () -> Void
    private var sources: [EventSource] = []
    private var owner: String?
    private var question: EventSource?

    /// Interval of queries for the end of sleep, because the signal may get lost.
    private static let interval = Duration.seconds(3)
    private static let name = "org.freedesktop.login1"
    private static let path = ObjectPath(trusted: "/org/freedesktop/login1")
    private static let manager = "org.freedesktop.login1.Manager"

    /// Starts to follow logind on the system bus; without logind the machine never sleeps.
    package init(_ connection: Connection, changed: @escaping @BusActor () -> Void) {
        self.connection = connection
        self.changed = changed
        sources.append(connection.watchName(Self.name) { [weak self] in self?.ownerChanged($0) })
    }

    private func ownerChanged(_ owner: String?) {
        self.owner = owner
        for source in sources.dropFirst() { source.cancel() }
        sources = Array(sources.prefix(1))
        guard let owner else { return sleepChanged(false) }
        sources.append(
            connection.subscribe(
                sender: owner,
                path: Self.path,
                interface: Self.manager,
                member: "PrepareForSleep",
                broadcast: true
            ) { [weak self] message in
                let isStarting = try? message.read("b") { (reader) throws(DBusError) in
                    try reader.read(Bool.self)
                }
                if let isStarting { self?.sleepChanged(isStarting) }
            }
        )
        ask(owner)
    }

    private func ask(_ owner: String) {
        onLoop {
            let isAsleep = try? await self.connection.property(
                "PreparingForSleep",
                of: Self.manager,
                at: Self.path,
                on: owner,
                as: Bool.self
            )
            guard self.owner == owner else { return }
            if let isAsleep { self.sleepChanged(isAsleep) }
            if self.isAsleep { self.askLater() }
        }
    }

    private func askLater() {
        question?.cancel()
        question = EventLoop.shared.schedule(after: Self.interval) { [weak self] in
            guard let self, isAsleep, let owner else { return }
            ask(owner)
        }
    }

    private func sleepChanged(_ isAsleep: Bool) {
        guard isAsleep != self.isAsleep else { return }
        self.isAsleep = isAsleep
        if isAsleep { askLater() }
        changed()
    }
}
