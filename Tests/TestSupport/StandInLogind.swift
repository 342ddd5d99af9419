import BusBench
package import DBus
import Glibc
import Linux

/// A sequence of values that tests wait for.
package struct Feed<Value: Sendable>: Sendable {
    private let values: AsyncStream<Value>
    private let sink: AsyncStream<Value>.Continuation

    package init() { (values, sink) = AsyncStream.makeStream() }

    package func add(_ value: Value) { sink.yield(value) }

    package func next() async -> Value? {
        for await value in values { return value }
        return nil
    }
}

/// Plays the objects of logind, as far as the daemon uses them.
@BusActor package final class StandInLogind {
    package nonisolated static let name = "org.freedesktop.login1"
    package nonisolated static let root = ObjectPath(trusted: "/org/freedesktop/login1")

    package let connection: Connection
    package var isLidClosed = false
    package var isDocked = false
    package var isPreparingForSleep = false
    /// Awaited before replies about the machine.
    package var preparation: (@BusActor @Sendable () async -> Void)?
    /// The session of the test's process, if any.
    package var current: StandInSession?
    /// The session of other processes, if any.
    package var others: StandInSession?
    /// The user's preferred session.
    package var display: StandInSession?
    /// The user's other sessions.
    package var more: [StandInSession] = []
    /// The user's state: `active` or `closing`.
    package var userState = "active"
    /// Whether to drop signals, like a bus with full queues.
    package var losesSignals = false
    /// Whether the user's service manager runs the test's process.
    package var isUnit = false
    /// The user's login time, in microseconds of CLOCK_MONOTONIC.
    package var loginTime: UInt64 = 0
    /// Called at each look-up of a process, before the reply.
    package var onLookUp: (@BusActor @Sendable () -> Void)?
    /// Called at each read of PreparingForSleep, before the reply.
    package var onSleepQuestion: (@BusActor @Sendable () -> Void)?
    /// Awaited before an inhibitor is handed out, if set.
    package var beforeInhibitor: (@BusActor @Sendable () async -> Void)?
    /// Replaces the reply to a look-up of a process.
    package var fault: DBusError?
    /// The number of reads of PreparingForSleep to refuse for lack of room.
    package var refusals = 0
    /// Counts calls and reads, by method and property.
    package var questions: [String: Int] = [:]
    /// Gets true each time the daemon inhibits sleep, and false when it stops.
    package let delays = Feed<Bool>()
    /// The arguments of each Inhibit call: what, who, why and mode.
    package fileprivate(set) var inhibitions: [[String]] = []
    /// The number of inhibitors that programs hold.
    package private(set) var held = 0
    package var isDelayed: Bool { held > 0 }
    private var watches: [EventSource] = []
    /// Sends the inhibitors; nil refuses them.
    package var replies: RawClient?

    package convenience init(_ bus: PrivateBus) throws { self.init(on: try bus.connect()) }

    package init(on connection: Connection) {
        self.connection = connection
        connection.export(Self.root, [LogindInterface(logind: self)]) { [weak self] _, _ in
            self?.preparation
        }
        connection.export(Self.user, [LogindUserInterface(logind: self)])
        // Own this name before the daemon watches the lid.
        try? connection.requestName("org.freedesktop.UPower")
    }

    package nonisolated static let user = ObjectPath(
        unchecked: "/org/freedesktop/login1/user/_\(getuid())"
    )

    package func start() throws { try connection.requestName(Self.name) }

    package func stop() { connection.releaseName(Self.name) }

    /// Leaves the bus after pending messages are sent.
    package func leave() {
        connection.flush()
        connection.close()
    }

    package func tell(
        _ member: String,
        _ signature: String = "",
        to destination: String? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) {
        guard !losesSignals else { return }
        connection.emit(
            path: Self.root,
            interface: "org.freedesktop.login1.Manager",
            member: member,
            signature: signature,
            to: destination,
            encode
        )
    }

    /// Begins a session, with logind's signals.
    package func begin(_ session: StandInSession) {
        tell("SessionNew", "so") { writer throws(DBusError) in
            try writer.write(session.id)
            try writer.write(session.path)
        }
        StandInSession.changed(connection, Self.user, "org.freedesktop.login1.User", [:])
    }

    package func logIn() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        loginTime = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    /// Signals the start or end of sleep to every program, or to a single destination.
    package func prepareForSleep(_ isStarting: Bool, to destination: String? = nil) {
        isPreparingForSleep = isStarting
        tell("PrepareForSleep", "b", to: destination) { writer throws(DBusError) in
            try writer.write(isStarting)
        }
    }

    /// Moves the lid.
    ///
    /// UPower signals it, while logind only answers queries.
    package func closeLid(_ isClosed: Bool, docked: Bool = false) {
        isLidClosed = isClosed
        isDocked = docked
        StandInSession.changed(
            connection,
            ObjectPath(trusted: "/org/freedesktop/UPower"),
            "org.freedesktop.UPower",
            ["LidIsClosed": .bool(isClosed)]
        )
    }

    package func remove(_ session: StandInSession) {
        tell("SessionRemoved", "so") { writer throws(DBusError) in
            try writer.write(session.id)
            try writer.write(session.path)
        }
        connection.unexport(session.path)
        if current === session { current = nil }
        if display === session { display = nil }
    }

    /// Ends the user's last session, without the signal for the user's own end.
    package func logOut(_ session: StandInSession) {
        userState = "closing"
        remove(session)
    }

    /// Replies with an end of a socket pair.
    ///
    /// Once all copies are closed, the other end reports the inhibitor's end.
    fileprivate func inhibit(_ call: IncomingCall) throws(TestFailure) {
        guard let replies else { throw TestFailure("no locks are given") }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try expect(socketpair(AF_UNIX, kind, 0, &ends) == 0, "a socket pair")
        let reading = OwnedDescriptor(adopting: ends[0])
        held += 1
        delays.add(true)
        let index = watches.count
        watches.append(
            EventLoop.shared.watch(descriptor: reading.rawValue) { [weak self] in
                withExtendedLifetime(reading) {
                    self?.watches[index].cancel()
                    self?.held -= 1
                    self?.delays.add(false)
                }
            }
        )
        try replies.answer(call, with: OwnedDescriptor(adopting: ends[1]))
    }
}

@BusActor package final class StandInSession {
    package let id: String
    package let path: ObjectPath
    package let isRemote: Bool
    package let uid: UInt32
    /// Empty for a login on a terminal, and for sessions made by other services.
    package var seat = "seat0"
    /// The PAM service that made the session.
    package var service = "login"
    package var kind = "user"
    package var terminal = ""
    /// The kind of display: `tty`, `x11` or `wayland`.
    package var type = "tty"
    /// Called once the session was read, before the reply.
    package var onLookUp: (@BusActor @Sendable () -> Void)?
    package private(set) var isActive = true
    package private(set) var isLocked = false
    private let connection: Connection
    fileprivate let logind: StandInLogind

    package init(
        _ id: String,
        at logind: StandInLogind,
        uid: UInt32 = getuid(),
        isRemote: Bool = false
    ) {
        self.id = id
        self.uid = uid
        self.isRemote = isRemote
        self.logind = logind
        path = ObjectPath(unchecked: "/org/freedesktop/login1/session/" + id)
        connection = logind.connection
        connection.export(path, [LogindSessionInterface(session: self)])
    }

    package func activate(_ isActive: Bool) {
        self.isActive = isActive
        tellChange(["Active": .bool(isActive), "State": .string(isActive ? "active" : "online")])
    }

    package func lock(_ isLocked: Bool) {
        self.isLocked = isLocked
        tellChange(["LockedHint": .bool(isLocked)])
    }

    package func askToLock() {
        connection.emit(
            path: path,
            interface: "org.freedesktop.login1.Session",
            member: "Lock",
            to: nil
        )
    }

    private func tellChange(_ properties: [String: Variant]) {
        guard !logind.losesSignals else { return }
        Self.changed(connection, path, "org.freedesktop.login1.Session", properties)
    }

    package static func changed(
        _ connection: Connection,
        _ path: ObjectPath,
        _ interface: String,
        _ properties: [String: Variant],
        to destination: String? = nil
    ) {
        connection.emit(
            path: path,
            interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            signature: "sa{sv}as",
            to: destination
        ) { writer throws(DBusError) in
            try writer.write(interface)
            try writer.write(properties)
            try writer.write([String]())
        }
    }
}

private struct LogindInterface: ServedInterface {
    let logind: StandInLogind

    static let description = InterfaceDescription(
        name: "org.freedesktop.login1.Manager",
        methods: [
            "GetSessionByPID": .init(name: "GetSessionByPID", input: "u", output: "o"),
            "GetUser": .init(name: "GetUser", input: "u", output: "o"),
            "GetUserByPID": .init(name: "GetUserByPID", input: "u", output: "o"),
            "Inhibit": .init(name: "Inhibit", input: "ssss", output: "h"),
        ],
        properties: ["LidClosed", "Docked", "PreparingForSleep"]
            .map { .init(name: $0, signature: "b", isWritable: false, change: .never) },
        introspection: #"<interface name="org.freedesktop.login1.Manager"/>"#
    )

    func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
        logind.questions[member, default: 0] += 1
        switch member {
        case "GetSessionByPID":
            logind.onLookUp?()
            if let fault = logind.fault { throw fault }
            let pid = try call.read("u") { reader throws(DBusError) in
                try reader.read(UInt32.self)
            }
            guard let session = pid == UInt32(getpid()) ? logind.current : logind.others else {
                throw DBusError("org.freedesktop.login1.NoSessionForPID", "It is in none.")
            }
            answer(call, session.path)
        case "GetUser": answer(call, StandInLogind.user)
        case "GetUserByPID":
            guard logind.isUnit else {
                throw DBusError("org.freedesktop.login1.NoUserForPID", "It is nobody's.")
            }
            answer(call, StandInLogind.user)
        default:
            let words = try call.read("ssss") { reader throws(DBusError) in
                var words: [String] = []
                for _ in 0..<4 { words.append(try reader.read(String.self)) }
                return words
            }
            logind.inhibitions.append(words)
            let answer = Answer<Void>
                .later { [logind] () throws(DBusError) in
                    await logind.beforeInhibitor?()
                    do throws(TestFailure) {
                        try logind.inhibit(call)
                    } catch {
                        throw DBusError(.failed, "\(error)")
                    }
                    await never()
                }
            call.answer(answer, "") { _, _ throws(DBusError) in }
        }
    }

    private func answer(_ call: IncomingCall, _ path: ObjectPath) {
        call.answer(.now(path), "o") { value, writer throws(DBusError) in try writer.write(value) }
    }

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        logind.questions[property, default: 0] += 1
        if property == "PreparingForSleep", logind.refusals > 0 {
            logind.refusals -= 1
            throw DBusError(.limitsExceeded, "The queue is full.")
        }
        switch property {
        case "LidClosed": try writer.write(logind.isLidClosed)
        case "Docked": try writer.write(logind.isDocked)
        default:
            try writer.write(logind.isPreparingForSleep)
            logind.onSleepQuestion?()
        }
    }
}

private struct LogindUserInterface: ServedInterface {
    let logind: StandInLogind

    static let description = InterfaceDescription(
        name: "org.freedesktop.login1.User",
        methods: [:],
        properties: [
            .init(name: "Display", signature: "(so)", isWritable: false, change: .value),
            .init(name: "State", signature: "s", isWritable: false, change: .never),
            .init(name: "TimestampMonotonic", signature: "t", isWritable: false, change: .never),
            .init(name: "Sessions", signature: "a(so)", isWritable: false, change: .value),
        ],
        introspection: #"<interface name="org.freedesktop.login1.User"/>"#
    )

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        if property == "State" { return try writer.write(logind.userState) }
        if property == "TimestampMonotonic" { return try writer.write(logind.loginTime) }
        let all = logind.more.map { SessionEntry(id: $0.id, path: $0.path) }
        if property == "Sessions" { return try writer.write(all) }
        try writer.structure("so") { writer throws(DBusError) in
            try writer.write(logind.display?.id ?? "")
            try writer.write(logind.display?.path ?? ObjectPath(trusted: "/"))
        }
    }
}

private struct SessionEntry: WireType {
    static let signature = "(so)"
    let id: String
    let path: ObjectPath

    init(id: String, path: ObjectPath) {
        self.id = id
        self.path = path
    }

    init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.structure("so") { reader throws(DBusError) in
            Self(id: try reader.read(String.self), path: try reader.read(ObjectPath.self))
        }
    }

    func write(to writer: inout MessageWriter) throws(DBusError) {
        try writer.structure("so") { writer throws(DBusError) in
            try writer.write(id)
            try writer.write(path)
        }
    }
}

private struct LogindSessionInterface: ServedInterface {
    let session: StandInSession

    static let description = InterfaceDescription(
        name: "org.freedesktop.login1.Session",
        methods: [:],
        properties: [
            ("Id", "s"), ("User", "(uo)"), ("Remote", "b"), ("Active", "b"), ("State", "s"),
            ("LockedHint", "b"), ("Seat", "(so)"), ("Service", "s"), ("Class", "s"), ("TTY", "s"),
            ("Type", "s"),
        ]
        .map { .init(name: $0.0, signature: $0.1, isWritable: false, change: .value) },
        introspection: #"<interface name="org.freedesktop.login1.Session"/>"#
    )

    func get(
        _ property: String,
        for peer: Peer?,
        into writer: inout MessageWriter
    ) throws(DBusError) {
        session.logind.questions["Session." + property, default: 0] += 1
        switch property {
        case "Id": try writer.write(session.id)
        case "User":
            try writer.structure("uo") { writer throws(DBusError) in
                try writer.write(session.uid)
                try writer.write(StandInLogind.user)
            }
        case "Seat":
            try writer.structure("so") { writer throws(DBusError) in
                try writer.write(session.seat)
                try writer.write(StandInLogind.root)
            }
        case "Service": try writer.write(session.service)
        case "Class": try writer.write(session.kind)
        case "TTY": try writer.write(session.terminal)
        case "Type":
            try writer.write(session.type)
            session.onLookUp?()
        case "Remote": try writer.write(session.isRemote)
        case "Active": try writer.write(session.isActive)
        case "State": try writer.write(session.isActive ? "active" : "online")
        default: try writer.write(session.isLocked)
        }
    }
}
