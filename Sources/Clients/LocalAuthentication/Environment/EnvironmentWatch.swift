internal import DBus
internal import LocalAuthBus
internal import LocalAuthClient

/// Follows what the service says about its sensors and enrolments.
@BusActor
final class EnvironmentWatch {
    private var sources: [EventSource] = []
    private var isFollowing = false
    /// What is enrolled the service tells those who have a context.
    private let context = RemoteContext(.shared)
    private var isReading = false
    private var isStale = false

    nonisolated init() {}

    /// Calls `changed` with a fresh reading after everything that may have changed one.
    nonisolated func start(
        _ changed: @escaping @Sendable (EnvironmentReading) -> Void
    ) {
        onLoop { await self.follow(changed) }
    }

    func follow(
        _ changed: @escaping @Sendable (EnvironmentReading) -> Void
    ) async {
        guard !isFollowing else { return }
        // Before anything is waited for, so that of two at once one follows.
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
        // A lost connection is no longer watched: the next observer starts again.
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

    /// One reading at a time; a change during a reading is seen by the next.
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
