import DBus
import Glibc
import TestSupport
import Testing

/// Foreign clients that call the example service.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct InteroperabilityTests {
    private static let name = "org.example.Test1"
    private static let path = "/org/example/Test1"

    @BusActor
    private func output(_ arguments: (_ address: String) -> [String]) async throws -> String {
        let bus = try PrivateBus()
        let server = try bus.connect()
        defer { server.close() }
        server.export(ExampleService.path, [ExampleService(server)])
        try server.requestName(Self.name)
        return try await ChildProcess(arguments(bus.address), mergesErrors: true)
            .ended(within: .seconds(60)).output
    }

    @BusActor
    private func busctl(_ arguments: String...) async throws -> String {
        try await output { ["/usr/bin/busctl", "--no-pager", "--address=" + $0] + arguments }
    }

    @BusActor
    private func gdbus(_ command: String, _ arguments: String...) async throws -> String {
        try await output {
            [
                "/usr/bin/gdbus", command, "--address", $0, "--dest", Self.name, "--object-path",
                Self.path,
            ] + arguments
        }
    }

    @Test("busctl calls a method")
    @BusActor
    func busctlCall() async throws {
        let text = try await busctl("call", Self.name, Self.path, Self.name, "Add", "uu", "2", "3")
        #expect(text == "u 5\n")
    }

    @Test("busctl reads and sets a property")
    @BusActor
    func busctlProperty() async throws {
        let read = try await busctl("get-property", Self.name, Self.path, Self.name, "Level")
        #expect(read == "u 7\n")
        let set = try await busctl(
            "set-property",
            Self.name,
            Self.path,
            Self.name,
            "Level",
            "u",
            "8"
        )
        #expect(set.isEmpty)
    }

    @Test("busctl shows the tree and the interface")
    @BusActor
    func busctlIntrospection() async throws {
        let tree = try await busctl("tree", "--list", Self.name)
        #expect(tree.contains(Self.path))
        let text = try await busctl("introspect", Self.name, Self.path)
        for word in ["org.example.Test1", ".Add", ".Level", ".Ping", "uu"] {
            #expect(text.contains(word))
        }
    }

    @Test("gdbus calls a method and introspects")
    @BusActor
    func gdbusClient() async throws {
        let sum = try await gdbus("call", "--method", Self.name + ".Add", "2", "3")
        #expect(sum == "(uint32 5,)\n")
        let text = try await gdbus("introspect")
        #expect(text.contains("readwrite u Level = 7;"))
    }

    @Test("A libdbus client calls, reads a property and gets the errors")
    @BusActor
    func libdbusClient() async throws {
        let text = try await output { ["InteropClient", $0] }
        #expect(
            text == """
                Add 5
                Level 7
                Nothing org.freedesktop.DBus.Error.UnknownMethod
                Add without arguments org.freedesktop.DBus.Error.InvalidArgs
                nowhere org.freedesktop.DBus.Error.UnknownObject

                """
        )
    }
}
