import DBus
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct DescriptorTests {
    @Test("L30: the bus refuses a call with a descriptor before it takes effect")
    @BusActor
    func refusal() async throws {
        try await withPair { pair in
            try pair.server.requestName(ExampleService.name)
            let file = try Files.holding([1])
            var body = RawValues()
            body.append(ExampleService.name)
            body.append("Level")
            body.append(raw: [1, UInt8(ascii: "u"), 0])
            body.append(UInt32(9))
            for destination in [pair.server.uniqueName, ExampleService.name] {
                let client = try RawClient(pair.bus.address)
                for (kind, member) in [(RawClient.Kind.call, "Set"), (.signal, "Event")] {
                    try client.send(
                        kind,
                        to: destination,
                        path: ExampleService.path.rawValue,
                        interface: "org.freedesktop.DBus.Properties",
                        member: member,
                        signature: "ssv",
                        body: body.bytes,
                        descriptor: file,
                        count: 16
                    )
                }
                _ = try await Task.detached { try client.receive(until: "NotSupported") }.value
                #expect(await pair.error("Who") == nil)
                #expect(pair.service.level == 7)
            }
        }
    }
}
