internal import DBus
internal import LocalAuthBus
internal import LocalAuthClient

/// Watches the service for changes of sensors and enrolments.
@BusActor
final class EnvironmentWatch {
    private var sources: [EventSource] = []
    private var isFollowing = false
    /// The service sends enrolment changes only to callers with a context.
    private let context = RemoteContext(.shared)
    private var isReading = false
    private var isStale = false

    nonisolated init() {}

    /// Calls `changed` with a fresh reading after each possible change.
    nonisolated func start(
        _ changed: @escaping @Sendable (EnvironmentReading) -> Void
    ) {
        onLoop { await self.follow(changed) }
    }

    func follow(
        _ changed: @escaping @Sendable (EnvironmentReading) -> Void
    ) async {
        guard !isFollowing else { return }
        // Set before the first await, so that only one of two concurrent calls continues.
        isFollowing = true
        guard let service = try? await ServiceConnection.shared.current() else {
            isFollowing = false
            return
        }
        _ = service.connection.watchName(Authentication1.busName) { [weak self] _ in
            onLoop {
                await self?.listen(changed)
                await self?.read(changed)
            }
        }
        // A lost connection ends the watch, and the next observer starts it again.
        service.connection.onDisconnect { [weak self] in self?.isFollowing = false }
    }

    private func listen(
        _ changed: @escaping @Sendable (EnvironmentReading) -> Void
    ) async {
        for source in sources { source.cancel() }
        sources = []
        guard let service = try? await ServiceConnection.shared.current() else { return }
        let read: @BusActor (Message) -> Void = { [weak self] _ in
            onLoop { await self?.read(changed) }
        }
        for (interface, member) in [
            ("org.freedesktop.DBus.ObjectManager", nil),
            ("org.freedesktop.DBus.Properties", "PropertiesChanged"),
        ] {
            sources.append(
                service.connection.subscribe(
                    sender: service.owner,
                    path: nil,
                    interface: interface,
                    member: member,
                    broadcast: true,
                    read
                )
            )
        }
        _ = try? await context.current()
    }

    /// Runs one reading at a time.
    ///
    /// A change during a reading triggers another.
    private func read(
        _ changed: @Sendable (EnvironmentReading) -> Void
    ) async {
        isStale = true
        guard !isReading else { return }
        isReading = true
        while isStale {
            isStale = false
            changed(await EnvironmentReading.now())
        }
        isReading = false
    }
}
