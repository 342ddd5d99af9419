import CSystemd
import Glibc
package import Linux

/// A call with a descriptor in its reply, on a short-lived connection of its own.
///
/// The other connections of this process take no descriptor from the bus (L30). The owner of the
/// called name must be trusted, because closing its descriptor may block.
package enum DescriptorCall {
    /// Calls a method with string arguments, and returns its reply's descriptor, or nil.
    ///
    /// Blocks for up to about `timeout`, so it must not run on the loop's thread.
    package static func call(
        _ destination: String,
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: [String],
        at address: Connection.Address,
        timeout: Duration
    ) -> OwnedDescriptor? {
        guard let bus = try? Connection.open(address, takingDescriptors: true) else { return nil }
        defer { sd_bus_flush_close_unref(bus) }
        var call: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                bus,
                &call,
                destination,
                path.rawValue,
                interface,
                member
            ) >= 0,
            let call
        else { return nil }
        defer { sd_bus_message_unref(call) }
        for argument in arguments {
            guard sd_bus_message_append_basic(call, CChar(UInt8(ascii: "s")), argument) >= 0 else {
                return nil
            }
        }
        var reply: OpaquePointer?
        let limit = timeout.nanoseconds / 1000
        guard sd_bus_call(bus, call, limit, nil, &reply) >= 0, let reply else { return nil }
        defer { sd_bus_message_unref(reply) }
        // The message closes its own descriptor.
        var number: Int32 = -1
        guard sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "h")), &number) > 0 else {
            return nil
        }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        return copy < 0 ? nil : OwnedDescriptor(adopting: copy)
    }
}
