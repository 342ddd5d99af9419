public import DBus
import Glibc
import Linux
import TestSupport

/// Replaces the part of logind for sleep: delay locks and the signal.
@BusActor public final class StandInSleep {
    public private(set) var delays = 0
    fileprivate var isAsleep = false
    private let connection: Connection
    private let replies: RawClient
    private var watches: [EventSource] = []

    init(_ bus: PrivateBus) async throws {
        try await bus.letForgedRepliesThrough()
        replies = try RawClient(bus.address)
        connection = try bus.connect()
        let path = ObjectPath(trusted: "/org/freedesktop/login1")
        connection.export(path, [SleepInterface(logind: self)])
        try connection.requestName("org.freedesktop.login1")
    }

    /// Signals the start or end of sleep to every program, or to a single destination.
    public func prepareForSleep(_ isStarting: Bool, to destination: String? = nil) {
        isAsleep = isStarting
        connection.emit(
            path: ObjectPath(trusted: "/org/freedesktop/login1"),
            interface: "org.freedesktop.login1.Manager",
            member: "PrepareForSleep",
            signature: "b",
            to: destination
        ) { writer throws(DBusError) in try writer.write(isStarting) }
    }

    /// Leaves the bus after pending messages are sent.
    public func leave() {
        connection.flush()
        connection.close()
    }

    /// Answers with an end of a socket pair; the delay ends when all copies are closed.
    fileprivate func delay(_ call: IncomingCall) throws(TestFailure) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try expect(socketpair(AF_UNIX, kind, 0, &ends) == 0, "a socket pair")
        let own = OwnedDescriptor(adopting: ends[0])
        delays += 1
        let index = watches.count
        watches.append(
            EventLoop.shared.watch(descriptor: own.rawValue) { [weak self] in
                withExtendedLifetime(own) {
                    self?.delays -= 1
                    self?.watches[index].cancel()
                }
            }
        )
        try replies.answer(call, with: OwnedDescriptor(adopting: ends[1]))
    }
}

private struct SleepInterface: ServedInterface {
    unowned let logind: StandInSleep

    static let description = InterfaceDescription(
        name: "org.freedesktop.login1.Manager",
        methods: ["Inhibit": .init(name: "Inhibit", input: "ssss", output: "h")],
        properties: [
            .init(name: "PreparingForSleep", signature: "b", isWritable: false, change: .never)
        ],
        introspection: #"<interface name="org.freedesktop.login1.Manager"/>"#
    )

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        let answer = Answer<Void>
            .later { [logind] () throws(DBusError) in
                try? logind.delay(call)
                await never()
            }
        call.answer(answer, "") { _, _ throws(DBusError) in }
    }

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.write(logind.isAsleep)
    }

    func set(
        _ property: String,
        from reader: inout MessageReader,
        by peer: Peer
    ) throws(DBusError) {
        throw DBusError(.propertyReadOnly, "The property is read-only.")
    }
}
