import DBus
import Glibc
import TestSupport
import Testing

/// Tests the examples in other languages, independent clients of the interface.
@Suite(.serialized) struct ExampleTests {
    private let bus: PrivateBus
    private let agentTerminal: Pty
    private let clientTerminal: Pty
    private let service: StandInService

    init() async throws {
        let bus = try PrivateBus()
        self.bus = bus
        (agentTerminal, clientTerminal) = (try Pty(), try Pty())
        service = try await onBus { try StandInService(bus) }
    }

    /// Shell commands of the examples; `$1` is the bus address.
    nonisolated private static let commands: [String: String] = [
        "shell": "shell/evaluate.sh $1",
        "python": "/usr/bin/python3 python/evaluate.py $1",
        "c": """
        program=$(mktemp) && cc -Wall -Wextra -Werror c/evaluate.c -o $program \
        $(pkg-config --cflags --libs dbus-1) && $program $1; status=$?; rm -f $program; \
        exit $status
        """,
    ]

    private func start(_ example: String) throws -> ChildProcess {
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let command = try #require(Self.commands[example])
        return try ChildProcess(
            ["/bin/sh", "-c", "cd /\(here)/examples; \(command)", "sh", bus.address],
            terminal: clientTerminal.path
        )
    }

    @Test("A granted evaluation exits with 0", arguments: ["shell", "python", "c"])
    func granted(example: String) async throws {
        let agent = try ChildProcess(
            ["localauthctl", "agent", "--session", "--bus", bus.address],
            terminal: agentTerminal.path
        )
        #expect(agentTerminal.shows("Ready"))
        let client = try start(example)
        #expect(agentTerminal.shows("Password of jo: "))
        agentTerminal.type("\(StandInService.passcode)\n")
        #expect(clientTerminal.shows("It is you"))
        #expect(try client.wait() == 0)
        agent.signal(SIGTERM)
        #expect(try agent.wait() == 0)
    }

    @Test("A refused evaluation exits with 1", arguments: ["shell", "python", "c"])
    func refused(example: String) throws {
        let client = try start(example)
        #expect(try client.wait() == 1)
        #expect(clientTerminal.shows("Nobody can ask."))
    }
}
