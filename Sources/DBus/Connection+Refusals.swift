import CSystemd

/// A call that the bus refused is sent again.
///
/// A bus keeps little for a receiver: dbus-daemon 64 descriptors of all senders together. Whoever
/// else calls before the receiver has had its turn is refused, by the bus and at once, so that
/// nobody has got the call. It takes milliseconds until there is room again.
extension Connection {
    /// Another 10, 20, 40, 80, 160 and 320 ms later: 630 ms together.
    private static let mostRefusals = 6

    /// Not where strangers are served: what such a connection calls is for itself to repeat.
    func isSentAgain(to destination: String) -> Bool {
        !isPeerToPeer && !servesStrangers && destination != Self.driver
    }

    /// A call may wait for minutes, and its descriptors are not to be open here as long.
    func limitKeeping(of call: PendingCall) {
        guard call.message != nil else { return }
        _ = EventLoop.shared.schedule(after: .seconds(1)) { [weak call] in call?.letGoOfMessage() }
    }

    /// Whether it may be sent again: nothing was sent after it, which it would come behind, as
    /// what it begins would behind what is to end that.
    private func isLast(_ call: PendingCall) -> Bool {
        call.message != nil && UInt64(call.serial) == lastCall
    }

    /// Sends a refused call again in a while; false when it has been refused too often, or another
    /// has followed.
    func sendAgain(_ call: PendingCall, after error: DBusError) -> Bool {
        guard isLast(call), call.refusals < Self.mostRefusals else { return false }
        let delay = Duration.milliseconds(10) * (1 << call.refusals)
        call.refusals += 1
        _ = EventLoop.shared.schedule(after: delay) { [weak self] in
            guard let self, !call.isOver else { return }
            guard isOpen, isLast(call), let message = call.message,
                let copy = Self.copy(of: message, on: bus)
            else { return call.finish(.failure(error)) }
            defer { sd_bus_message_unref(copy) }
            do throws(DBusError) {
                let cookie = try OutgoingMessage.send(copy, expectingReply: true)
                if overdue.remove(UInt64(call.serial)) != nil { overdue.insert(cookie) }
                pending[UInt64(call.serial)] = nil
                call.serial = UInt32(truncatingIfNeeded: cookie)
                pending[cookie] = call
                lastCall = cookie
            } catch {
                call.finish(.failure(error))
            }
        }
        return true
    }

    /// A message that was sent has its number; only a copy gets another one.
    private static func copy(of message: Message, on bus: OpaquePointer) -> OpaquePointer? {
        var copy: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                bus,
                &copy,
                sd_bus_message_get_destination(message.pointer),
                sd_bus_message_get_path(message.pointer),
                sd_bus_message_get_interface(message.pointer),
                sd_bus_message_get_member(message.pointer)
            ) >= 0,
            let copy
        else { return nil }
        guard sd_bus_message_rewind(message.pointer, 1) >= 0,
            sd_bus_message_copy(copy, message.pointer, 1) >= 0
        else {
            sd_bus_message_unref(copy)
            return nil
        }
        return copy
    }
}
