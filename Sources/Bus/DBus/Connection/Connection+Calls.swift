import CSystemd
import Glibc

struct OutgoingCalls {
    /// Unanswered calls, by cookie.
    var pending: [UInt64: PendingCall] = [:]
}

extension Connection {
    package static let driver = "org.freedesktop.DBus"

    /// Sends a call.
    ///
    /// The default timeout is ``callTimeout``. A sensitive call and its reply carry secrets, and are
    /// erased from memory after use.
    ///
    /// - Throws: `InvalidArgs` for a name or value that cannot be sent, `LimitsExceeded`,
    ///   `Disconnected`.
    public func startCall(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        isSensitive: Bool = false,
        timeout: Duration? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) throws(DBusError) -> PendingCall {
        let pointer = try newCall(to: destination, path, interface, member)
        defer { sd_bus_message_unref(pointer) }
        if isSensitive { sd_bus_message_sensitive(pointer) }
        let size = try OutgoingMessage.fill(pointer, signature, encode)
        let cookie = try OutgoingMessage.send(pointer, expectingReply: true)
        callGuard?.sent(size, to: destination)
        let isExact = destination.hasPrefix(":") || destination == Self.driver
        let call = PendingCall(
            serial: UInt32(truncatingIfNeeded: cookie),
            destination: isExact ? destination : nil,
            isSensitive: isSensitive
        ) { [weak self] serial in
            self?.outgoing.pending[UInt64(serial)] = nil
        }
        outgoing.pending[cookie] = call
        let timeout = timeout ?? callTimeout
        if timeout < Self.noTimeout { expire(call, after: timeout) }
        return call
    }

    /// Ends a call that is not answered in time.
    ///
    /// The deadline moves by one second in two cases: unread messages may contain the answer, or a
    /// suspended or busy machine left the other side no time.
    private func expire(_ call: PendingCall, after timeout: Duration) {
        let end = ContinuousClock.now + timeout
        call.timer = EventLoop.shared.schedule(after: timeout) { [weak self, weak call] in
            guard let call else { return }
            let stoodStill = .now - end >= Self.standstill
            guard stoodStill || self?.isReady(POLLIN) == true else {
                return call.finish(.failure(Self.late))
            }
            call.timer = EventLoop.shared.schedule(after: .seconds(1)) { [weak call] in
                call?.finish(.failure(Self.late))
            }
        }
    }

    /// Lateness of a timer that shows that the process stood still.
    private static let standstill = Duration.milliseconds(200)

    private static let late = DBusError(.noReply, "The call was not answered in time.")

    /// Sends a call and waits for the reply.
    ///
    /// Canceling the task cancels the call.
    ///
    /// - Throws: As ``startCall(to:path:interface:member:signature:timeout:_:)`` and
    ///   ``PendingCall/reply()``.
    public func call(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        isSensitive: Bool = false,
        timeout: Duration? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) async throws(DBusError) -> Message {
        let call = try startCall(
            to: destination,
            path: path,
            interface: interface,
            member: member,
            signature: signature,
            isSensitive: isSensitive,
            timeout: timeout,
            encode
        )
        return try await call.reply()
    }

    /// Sends a call without a reply.
    ///
    /// A call that cannot be sent is dropped.
    public func send(
        to destination: String,
        path: ObjectPath,
        interface: String,
        member: String,
        signature: String = "",
        isSensitive: Bool = false,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) {
        guard let pointer = try? newCall(to: destination, path, interface, member) else { return }
        defer { sd_bus_message_unref(pointer) }
        if isSensitive { sd_bus_message_sensitive(pointer) }
        deliver(pointer, to: destination, signature, encode)
    }

    /// Sends a signal to one unique name, or to all subscribers.
    ///
    /// A signal that cannot be sent is dropped.
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
        if let destination {
            guard sd_bus_message_set_destination(pointer, destination) >= 0 else { return }
        }
        deliver(pointer, to: destination, signature, encode)
    }

    private func deliver(
        _ pointer: OpaquePointer,
        to destination: String?,
        _ signature: String,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void
    ) {
        do throws(DBusError) {
            let size = try OutgoingMessage.fill(pointer, signature, encode)
            _ = try OutgoingMessage.send(pointer, expectingReply: false)
            callGuard?.sent(size, to: destination)
        } catch {
            // No caller waits for an answer.
        }
    }

    private func newCall(
        to destination: String,
        _ path: ObjectPath,
        _ interface: String,
        _ member: String
    ) throws(DBusError) -> OpaquePointer {
        guard isOpen else { throw DBusError(.disconnected, "The connection is closed.") }
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

    /// Ends the call of a reply.
    ///
    /// A reply counts only if it comes from the call's destination, or is the bus's own error.
    func receive(reply message: Message) {
        guard let call = outgoing.pending[message.replySerial] else { return }
        if call.isSensitive { message.markSensitive() }
        if let expected = call.destination, let sender = message.sender, sender != expected {
            guard message.isError, sender == Self.driver else { return }
        }
        if let error = message.error {
            noteAbsence(of: call.destination, message.sender, error)
            call.finish(.failure(error))
        } else if message.isError {
            call.finish(.failure(DBusError(.failed, "The call failed.")))
        } else {
            call.finish(.success(message))
        }
    }
}
