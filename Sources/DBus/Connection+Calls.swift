import CSystemd
import Glibc

extension Connection {
    static let driver = "org.freedesktop.DBus"

    /// Sends a call.
    ///
    /// `timeout` nil: 25 seconds.
    ///
    /// - Throws: `InvalidArgs` for a name or value that cannot be sent, `LimitsExceeded`,
    ///   `Disconnected`.
    public func startCall(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        timeout: Duration? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) throws(DBusError) -> PendingCall {
        let pointer = try newCall(to: destination, path, interface, member)
        defer { sd_bus_message_unref(pointer) }
        let amount = try OutgoingMessage.fill(pointer, signature, encode)
        let receiver = receiver(destination)
        let cookie = try send(pointer, amount, to: receiver, expectingReply: true)
        let isExact = destination.hasPrefix(":") || destination == Self.driver
        let call = PendingCall(
            serial: UInt32(truncatingIfNeeded: cookie),
            message: isSentAgain(to: destination) ? Message(sharing: pointer) : nil,
            destination: isPeerToPeer || !isExact ? nil : destination
        ) { [weak self] serial in
            self?.pending[UInt64(serial)] = nil
            self?.overdue.remove(UInt64(serial))
        }
        pending[cookie] = call
        if destination != Self.driver { lastCall = cookie }
        if amount.descriptors > 0 { limitKeeping(of: call) }
        let timeout = timeout ?? callTimeout
        if timeout < Self.noTimeout { expire(call, after: timeout) }
        return call
    }

    /// Ends a call that isn't answered in time, which is not before what has come was read: its
    /// answer may be among it.
    ///
    /// Where this process learns late that the time is over, who is to answer has stood still as
    /// well, on a machine that was suspended or had no time for either: it has a moment more.
    private func expire(_ call: PendingCall, after timeout: Duration) {
        let end = ContinuousClock.now + timeout
        call.timer = EventLoop.shared.schedule(after: timeout) { [weak self, weak call] in
            guard let call else { return }
            let stoodStill = .now - end >= Self.standstill
            guard let self, stoodStill || hasUnread else {
                return call.finish(.failure(Self.late))
            }
            if !stoodStill { overdue.insert(UInt64(call.serial)) }
            call.timer = EventLoop.shared.schedule(after: .seconds(1)) { [weak call] in
                call?.finish(.failure(Self.late))
            }
        }
    }

    /// A process that runs learns of a time that is over before that.
    private static let standstill = Duration.milliseconds(200)

    /// All that had come was read.
    func finishOverdue() {
        for serial in overdue.sorted() { pending[serial]?.finish(.failure(Self.late)) }
    }

    private static let late = DBusError(.noReply, "The call was not answered in time.")

    /// Sends a call and waits for the reply.
    ///
    /// Canceling the task cancels the call.
    ///
    /// - Throws: as ``startCall(to:path:interface:member:signature:timeout:_:)`` and
    ///   ``PendingCall/reply()``.
    public func call(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        timeout: Duration? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) async throws(DBusError) -> Message {
        let call = try startCall(
            to: destination,
            path: path,
            interface: interface,
            member: member,
            signature: signature,
            timeout: timeout,
            encode
        )
        return try await call.reply()
    }

    /// Sends a call whose reply nobody waits for.
    ///
    /// What cannot be sent is dropped. A reply is asked for where a refusal of the bus has it sent
    /// again.
    public func send(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) {
        guard !isSentAgain(to: destination) else {
            _ = try? startCall(
                to: destination,
                path: path,
                interface: interface,
                member: member,
                signature: signature,
                encode
            )
            return
        }
        guard let pointer = try? newCall(to: destination, path, interface, member) else { return }
        defer { sd_bus_message_unref(pointer) }
        do throws(DBusError) {
            let amount = try OutgoingMessage.fill(pointer, signature, encode)
            _ = try send(pointer, amount, to: receiver(destination))
        } catch {
            // Nobody waits for an answer.
        }
    }

    /// Sends a signal: to one unique name, or to everybody who asked for it.
    ///
    /// What cannot be sent is dropped.
    public func emit(
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        to destination: String? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) {
        var pointer: OpaquePointer?
        guard isOpen,
            sd_bus_message_new_signal(bus, &pointer, path.rawValue, interface, member) >= 0,
            let pointer
        else { return }
        defer { sd_bus_message_unref(pointer) }
        if let destination, !isPeerToPeer {
            guard sd_bus_message_set_destination(pointer, destination) >= 0 else { return }
        }
        do throws(DBusError) {
            let amount = try OutgoingMessage.fill(pointer, signature, encode)
            _ = try send(pointer, amount, to: receiver(destination))
        } catch {
            // Nobody waits for an answer.
        }
    }

    private func newCall(
        to destination: String,
        _ path: ObjectPath,
        _ interface: String,
        _ member: String
    ) throws(DBusError) -> OpaquePointer {
        guard isOpen else { throw DBusError(.disconnected, "The connection is closed.") }
        // Over a socket pair there is only one possible receiver.
        let destination = isPeerToPeer ? nil : destination
        var pointer: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                bus,
                &pointer,
                destination,
                path.rawValue,
                interface,
                member
            ) >= 0,
            let pointer
        else {
            throw DBusError(.invalidArgs, "The destination, path, interface or member is invalid.")
        }
        return pointer
    }

    /// A reply counts only if it comes from the call's destination.
    ///
    /// The bus itself answers with an error when the destination doesn't exist.
    func receive(reply message: Message) {
        guard let call = pending[message.replySerial] else { return }
        if let expected = call.destination, let sender = message.sender, sender != expected {
            guard message.isError, sender == Self.driver else { return }
        }
        if let error = message.error {
            if message.sender == Self.driver, error.name == .limitsExceeded,
                sendAgain(call, after: error)
            {
                return
            }
            noteAbsence(of: call.destination, message.sender, error)
            call.finish(.failure(error))
        } else if message.isError {
            call.finish(.failure(DBusError(.failed, "The call failed.")))
        } else {
            call.finish(.success(message))
        }
    }
}
