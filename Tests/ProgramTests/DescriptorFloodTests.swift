import DBus
import Foundation
import Glibc
import Linux
import LocalAuthBus
import TestSupport
import Testing

/// Messages full of descriptors, sent to the daemon.
@Suite("Descriptor floods", .timeLimit(.minutes(10)))
struct DescriptorFloodTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// Sends CanEvaluate with 16 descriptors so often, without waiting for an answer.
    private func flood(_ bus: PrivateBus, calls: Int, path: String = "") throws -> RawClient {
        let client = try RawClient(bus.address)
        let file = try #require(OwnedDescriptor.open("/dev/null", O_RDONLY))
        for _ in 0..<calls {
            try client.send(
                to: TestDaemon.name,
                path: TestDaemon.root.rawValue + path,
                interface: TestDaemon.name,
                member: "CanEvaluate",
                signature: "u",
                body: [1, 0, 0, 0],
                descriptor: file,
                count: 16
            )
        }
        return client
    }

    /// Returns when the daemon has read what a client sent.
    private func waitUntilRead(_ client: RawClient) throws {
        try client.send(
            to: TestDaemon.name,
            path: TestDaemon.root.rawValue,
            interface: TestDaemon.name,
            member: "Nonexistent"
        )
        _ = try client.receive(until: DBusError.Name.unknownMethod.rawValue)
    }

    @Test("L21: with 1024 descriptors at most, a flood of them is refused, and the daemon goes on")
    @BusActor
    func flood() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(
                on: bus,
                launcher: ["/bin/sh", "-c", "ulimit -n 1024; exec \"$@\"", "sh"]
            )
            let before = try daemon.process.descriptors()
            for _ in 0..<4 {
                let client = try flood(bus, calls: 120)
                let answer = try client.receive(until: "no argument uses")
                #expect(answer.contains(DBusError.Name.invalidArgs.rawValue))
            }
            // A path that the bus takes and sd-bus doesn't: it forgets the descriptors.
            let long = "/" + String(repeating: "a", count: 70_000)
            try waitUntilRead(try flood(bus, calls: 100, path: long))
            try await eventually("the descriptors to be closed") {
                _ = try await daemon.manager.canEvaluate(policy: 2)
                return try daemon.process.descriptors() <= before + 1
            }
            #expect(daemon.process.isRunning)
        }
    }

    @Test("L21: a daemon without a descriptor left drops the message that brings more, and goes on")
    @BusActor
    func exhaustion() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(on: bus)
            // So that its next files, of the first call, are open.
            _ = try await daemon.manager.canEvaluate(policy: 2)
            let before = try daemon.process.descriptors()
            let room = before + 4
            let changed = try ChildProcess.run(
                ["/usr/bin/prlimit", "--pid=\(daemon.process.pid)", "--nofile=\(room):\(room)"]
            )
            #expect(changed.status == 0, "\(changed.errors)")
            try waitUntilRead(try flood(bus, calls: 20))
            try await eventually("the descriptors to be closed") {
                _ = try await daemon.manager.canEvaluate(policy: 2)
                return try daemon.process.descriptors() <= before + 1
            }
            #expect(daemon.process.isRunning)
        }
    }

    @Test("L21: a service takes as many descriptors as its hard limit allows")
    @BusActor
    func softLimit() async throws {
        try await PrivateBus.run { bus in
            let daemon = try await TestDaemon(
                on: bus,
                launcher: ["/bin/sh", "-c", "ulimit -Sn 1024; ulimit -Hn 3000; exec \"$@\"", "sh"]
            )
            let path = "/proc/\(daemon.process.pid)/limits"
            let limits = try String(contentsOfFile: path, encoding: .utf8)
            let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            #expect(line?.split(separator: " ").dropFirst(3).first == "3000")
        }
    }
}
