import DBus
import Glibc
import Linux
import TestSupport
import Testing

/// An event that happens once.
///
/// Tests wait for it instead of sleeping.
@BusActor
final class Signal {
    private(set) var isSet = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func set() {
        isSet = true
        let waiting = waiting
        self.waiting = []
        for continuation in waiting {
            continuation.resume()
        }
    }

    func wait() async {
        // The condition is tested inside: other jobs may run before the closure does.
        await withCheckedContinuation { continuation in
            if isSet {
                continuation.resume()
            } else {
                waiting.append(continuation)
            }
        }
    }
}

/// Collects values.
///
/// Tests wait for a number of them.
@BusActor
final class Collected<Value: Sendable> {
    private(set) var values: [Value] = []
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func add(_ value: Value) {
        values.append(value)
        let ready = waiting.filter { $0.count <= values.count }
        waiting.removeAll { $0.count <= values.count }
        for entry in ready {
            entry.continuation.resume()
        }
    }

    func first(_ count: Int) async -> [Value] {
        // The condition is tested inside: other jobs may run before the closure does.
        await withCheckedContinuation { continuation in
            if values.count >= count {
                continuation.resume()
            } else {
                waiting.append((count, continuation))
            }
        }
        return Array(values.prefix(count))
    }
}

/// Files without a name.
enum Files {
    static func holding(_ bytes: [UInt8]) throws(DBusError) -> OwnedDescriptor {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw DBusError(.failed, "There is no pipe.") }
        let input = OwnedDescriptor(adopting: ends[1])
        guard write(input.rawValue, bytes, bytes.count) == bytes.count else {
            throw DBusError(.failed, "The pipe is full.")
        }
        return OwnedDescriptor(adopting: ends[0])
    }

    static func contents(of file: OwnedDescriptor) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file.rawValue, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}

/// A service and a client on a private bus, both on the loop.
@BusActor
struct ServedPair {
    let bus: PrivateBus
    let server: Connection
    let client: Connection
    let service: ExampleService

    init(_ bus: PrivateBus) throws {
        self.bus = bus
        server = try bus.connect()
        client = try bus.connect()
        service = ExampleService(server)
        server.export(ExampleService.path, [service])
    }

    func call(
        _ member: String,
        _ signature: String = "",
        path: ObjectPath = ExampleService.path,
        interface: String = ExampleService.name,
        timeout: Duration? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) async throws(DBusError) -> Message {
        try await client.call(
            to: server.uniqueName,
            path: path,
            interface: interface,
            member: member,
            signature: signature,
            timeout: timeout,
            encode
        )
    }

    /// Returns the error that answers a call, or nil.
    func error(
        _ member: String,
        _ signature: String = "",
        path: ObjectPath = ExampleService.path,
        interface: String = ExampleService.name,
        timeout: Duration? = nil,
        _ encode: (inout MessageWriter) throws(DBusError) -> Void = { _ in }
    ) async -> DBusError.Name? {
        do throws(DBusError) {
            _ = try await call(
                member,
                signature,
                path: path,
                interface: interface,
                timeout: timeout,
                encode
            )
            return nil
        } catch {
            return error.name
        }
    }
}

/// Runs a test body with a pair on a bus of its own.
func withPair(
    limits: [String: Int] = [:],
    _ body: @BusActor (ServedPair) async throws -> Void
) async throws {
    try await PrivateBus.run(limits: limits) { bus in try await body(try ServedPair(bus)) }
}
