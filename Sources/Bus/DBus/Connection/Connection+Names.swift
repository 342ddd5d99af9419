import CSystemd
import Glibc

/// A watch of a bus name, or of all names under a prefix.
@BusActor
final class NameWatch {
    let name: String
    let isPrefix: Bool
    let changed: @BusActor (_ name: String, _ owner: String?) -> Void
    /// For an exact name: whether its first owner has been reported.
    var isStarted = false
    /// For a prefix: the names with an owner that the bus has reported since.
    var reportedNames: Set<String> = []
    /// The owners reported last.
    private(set) var owners: [String: String] = [:]
    var isOver = false

    init(
        _ name: String,
        isPrefix: Bool,
        _ changed: @escaping @BusActor (_ name: String, _ owner: String?) -> Void
    ) {
        self.name = name
        self.isPrefix = isPrefix
        self.changed = changed
    }

    /// Reports the owner of a name; nil means that it has none.
    func report(_ name: String, _ owner: String?) {
        owners[name] = owner
        changed(name, owner)
    }

    func covers(_ other: String) -> Bool {
        guard isPrefix, other.utf8.count > name.utf8.count else { return other == name }
        return other.hasPrefix(name)
            && other.utf8.dropFirst(name.utf8.count).first == UInt8(ascii: ".")
    }
}

/// The owner queries sent in one moment of the loop.
struct OwnerQuestions {
    var moment: UInt64 = 0
    var calls: [String: PendingCall] = [:]
}

/// The bus names that a connection watches and asks about.
@BusActor
struct NameState {
    var watches: [NameWatch] = []
    let catchUps = SharedLookUps<Bool, Void>()
    var ownerQuestions = OwnerQuestions()
}

extension Connection {
    // MARK: Own names

    /// Takes a bus name.
    ///
    /// Never queues for the name, nor lets others take it over.
    ///
    /// Blocks until the bus answers.
    ///
    /// - Throws: `Failed` when the name has an owner; `AccessDenied` by the bus's policy.
    public func requestName(_ name: String) throws(DBusError) {
        switch -sd_bus_request_name(bus, name, 0) {
        case ...0, EALREADY:
            return
        case EEXIST:
            throw DBusError(.failed, "The bus name '\(name)' is taken: is it running already?")
        case EPERM, EACCES:
            throw DBusError(.accessDenied, "The bus does not allow to own '\(name)'.")
        default:
            throw DBusError(.failed, "The bus name '\(name)' cannot be owned.")
        }
    }

    public func releaseName(_ name: String) {
        send(
            to: Self.driver,
            path: .bus,
            interface: Self.driver,
            member: "ReleaseName",
            signature: "s"
        ) { (writer) throws(DBusError) in
            try writer.write(name)
        }
    }

    /// Gives a bus name back, and returns when the bus has taken it.
    ///
    /// Messages sent to the name before that have then arrived.
    ///
    /// - Throws: `Disconnected`.
    public func giveUpName(_ name: String) async throws(DBusError) {
        _ = try await askBus("ReleaseName", name).reply()
    }

    // MARK: Others' names

    /// Returns the owner (unique name) of a bus name, or nil.
    ///
    /// A bus drops its own answers to a receiver with a full queue, so the query is repeated.
    ///
    /// - Throws: `Disconnected`, `InvalidArgs`, `NoReply`.
    public func nameOwner(_ name: String) async throws(DBusError) -> String? {
        var triesLeft = 10
        while true {
            do throws(DBusError) {
                let call = try askWhoOwns(name)
                // Other tasks may share this query, so a canceled task must not cancel it.
                let reply: Result<Message, DBusError> = await withUnsafeContinuation {
                    continuation in
                    call.onEnd { continuation.resume(returning: $0) }
                }
                return try Self.owner(in: try reply.get())
            } catch {
                triesLeft -= 1
                switch error.name {
                case .nameHasNoOwner: return nil
                case .noReply where triesLeft > 0 && isOpen: continue
                default: throw error
                }
            }
        }
    }

    /// Makes the bus start the service behind a name, unless the name has an owner.
    ///
    /// Returns when the name has an owner.
    ///
    /// - Throws: The bus's error: `ServiceUnknown` when it cannot start the service; `NoReply`
    ///   after `timeout`.
    public func startService(_ name: String, timeout: Duration) async throws(DBusError) {
        _ = try await call(
            to: Self.driver,
            path: .bus,
            interface: Self.driver,
            member: "StartServiceByName",
            signature: "su",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            try writer.write(name)
            try writer.write(UInt32(0))
        }
    }

    /// Reports the current owner of a bus name, or nil, and then every change.
    public func watchName(
        _ name: String,
        _ changed: @escaping @BusActor (_ owner: String?) -> Void
    ) -> EventSource {
        let watch = NameWatch(name, isPrefix: false) { _, owner in changed(owner) }
        let source = start(watch, "arg0='\(name)'")
        askOwner(name) { [weak watch] owner in
            guard let watch, !watch.isOver else { return }
            watch.isStarted = true
            watch.report(name, owner)
        }
        return source
    }

    /// Reports the owners of all bus names under a prefix, and then every change.
    ///
    /// `org.example.Sensor` covers `org.example.Sensor` and `org.example.Sensor.Face`. `listed` is
    /// called when all initial owners have been reported.
    public func watchNames(
        under prefix: String,
        _ changed: @escaping @BusActor (_ name: String, _ owner: String?) -> Void,
        listed: @escaping @BusActor () -> Void = {}
    ) -> EventSource {
        let watch = NameWatch(prefix, isPrefix: true, changed)
        watch.isStarted = true
        let source = start(watch, "arg0namespace='\(prefix)'")
        guard let call = try? askBus("ListNames") else { return source }
        call.onEnd { [weak self, weak watch] result in
            guard let self, let watch else { return }
            let names = (try? Self.strings(in: result.get()))?.filter { watch.covers($0) } ?? []
            var unanswered = names.count
            if unanswered == 0 { listed() }
            for name in names {
                askOwner(name) { owner in
                    // A change that arrived before this answer is newer.
                    if !watch.isOver, let owner, watch.reportedNames.insert(name).inserted {
                        watch.report(name, owner)
                    }
                    unanswered -= 1
                    if unanswered == 0 { listed() }
                }
            }
        }
        return source
    }

    /// Calls `body` when the set of services that the bus can start changes.
    public func onActivatableNamesChanged(
        _ body: @escaping @BusActor () -> Void
    ) -> EventSource {
        subscribe(
            sender: "org.freedesktop.DBus",
            path: .bus,
            interface: "org.freedesktop.DBus",
            member: "ActivatableServicesChanged",
            broadcast: true
        ) { _ in body() }
    }

    /// Returns the bus names for which the bus can start a service.
    ///
    /// - Throws: `Disconnected`.
    public func listActivatableNames() async throws(DBusError) -> [String] {
        try Self.strings(in: try await askBus("ListActivatableNames").reply())
    }

    // MARK: Implementation

    private func start(_ watch: NameWatch, _ condition: String) -> EventSource {
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged'," + condition
        names.watches.append(watch)
        addMatch(rule)
        return EventSource { [weak self] in
            watch.isOver = true
            self?.names.watches.removeAll { $0 === watch }
            self?.removeMatch(rule)
        }
    }

    func nameOwnerChanged(_ message: Message) {
        let change = try? message.read("sss") { (reader) throws(DBusError) in
            (
                name: try reader.read(String.self), old: try reader.read(String.self),
                new: try reader.read(String.self)
            )
        }
        guard let change else { return }
        if change.new.isEmpty, change.name.hasPrefix(":") {
            nameVanished(change.name)
        } else if change.new.isEmpty {
            callGuard?.nameVanished(change.name)
        }
        // The answer with the first owner includes earlier signals.
        for watch in names.watches where watch.isStarted && watch.covers(change.name) {
            guard !watch.isOver else { continue }
            if watch.isPrefix {
                watch.reportedNames.insert(change.name)
            }
            watch.report(change.name, change.new.isEmpty ? nil : change.new)
        }
    }

    func askBus(
        _ member: String,
        _ argument: String? = nil,
        timeout: Duration? = nil
    ) throws(DBusError) -> PendingCall {
        try startCall(
            to: "org.freedesktop.DBus",
            path: .bus,
            interface: "org.freedesktop.DBus",
            member: member,
            signature: argument == nil ? "" : "s",
            timeout: timeout
        ) { (writer) throws(DBusError) in
            if let argument {
                try writer.write(argument)
            }
        }
    }

    /// Returns whether the bus takes at least `time` to answer, or does not answer.
    public func isLate(by time: Duration) async -> Bool {
        guard isOpen else { return false }
        let began = ContinuousClock.now
        do throws(DBusError) {
            let question = try askBus("GetNameOwner", Self.driver, timeout: .seconds(2))
            _ = try await question.reply()
        } catch {
            return error.name == .noReply && isOpen
        }
        return ContinuousClock.now - began >= time
    }

    /// Asks the bus for the owner of a name.
    ///
    /// Shares a query that is pending, if no message has arrived since it was sent. Any cause for
    /// the new query is then older than the pending one.
    func askWhoOwns(_ name: String) throws(DBusError) -> PendingCall {
        let moment = EventSources.shared.inputCount
        if names.ownerQuestions.moment != moment {
            names.ownerQuestions = OwnerQuestions(moment: moment)
        }
        if let asked = names.ownerQuestions.calls[name], !asked.isOver { return asked }
        let call = try askBus("GetNameOwner", name, timeout: .seconds(2))
        names.ownerQuestions.calls[name] = call
        return call
    }

    /// Calls `body` in the turn in which the bus answers; nil if there is no owner or no answer.
    ///
    /// A bus drops its own answers to a receiver with a full queue, so the query is repeated.
    private func askOwner(
        _ name: String,
        triesLeft: Int = 10,
        _ body: @escaping @BusActor (String?) -> Void
    ) {
        guard let call = try? askBus("GetNameOwner", name, timeout: .seconds(2)) else {
            // In a later turn, as with any answer: the caller's watch is not set up yet.
            onLoop { body(nil) }
            return
        }
        call.onEnd { [weak self] result in
            if case .failure(let error) = result, error.name == .noReply, triesLeft > 1,
                let self, isOpen
            {
                return askOwner(name, triesLeft: triesLeft - 1, body)
            }
            body(try? Self.owner(in: result.get()))
        }
    }

    static func owner(in reply: Message) throws(DBusError) -> String {
        try reply.read("s") { (reader) throws(DBusError) in try reader.read(String.self) }
    }

    static func strings(in reply: Message) throws(DBusError) -> [String] {
        try reply.read("as") { (reader) throws(DBusError) in try reader.read([String].self) }
    }
}
