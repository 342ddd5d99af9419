import DBus
import TestSupport
import Testing

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct LimitTests {
    private static let signature = "ayasaua{sv}aa{sv}(is)va{us}"

    /// Returns the service's answer, or the refusal of the client's own writer.
    @BusActor
    private func answer(
        to pair: ServedPair,
        _ change: (inout ContainerValues) -> Void
    ) async -> DBusError.Name? {
        await pair.error("Containers", Self.signature) { (writer) throws(DBusError) in
            var values = ContainerValues()
            change(&values)
            try values.write(to: &writer)
        }
    }

    @BusActor
    private func nested(_ depth: Int) -> Variant {
        var value = Variant.bool(true)
        for _ in 1..<depth {
            value = .variant(value)
        }
        return value
    }

    @Test("Values at the limits pass, and values beyond them are InvalidArgs")
    @BusActor
    func limits() async throws {
        try await withPair { pair in
            let string = String(repeating: "a", count: MessageLimits.string)
            #expect(await answer(to: pair) { $0.strings = [string] } == nil)
            #expect(await answer(to: pair) { $0.strings = [string + "a"] } == .invalidArgs)
            let bytes = [UInt8](repeating: 0, count: MessageLimits.bytes)
            #expect(await answer(to: pair) { $0.bytes = bytes } == nil)
            #expect(await answer(to: pair) { $0.bytes = bytes + [0] } == .invalidArgs)
            let numbers = [UInt32](repeating: 0, count: MessageLimits.array)
            #expect(await answer(to: pair) { $0.numbers = numbers } == nil)
            #expect(await answer(to: pair) { $0.numbers = numbers + [0] } == .invalidArgs)
            let deepest = nested(MessageLimits.variantDepth)
            #expect(await answer(to: pair) { $0.variant = deepest } == nil)
            #expect(await answer(to: pair) { $0.variant = .variant(deepest) } == .invalidArgs)
            #expect(await answer(to: pair) { $0.strings = ["a\0b"] } == .invalidArgs)
            #expect(await pair.error("Who") == nil)
        }
    }

    @Test("The reader refuses bodies of a careless writer", arguments: RawBody.allCases)
    @BusActor
    func reading(body: RawBody) async throws {
        try await withPair { pair in
            let pointer = try RawMessage(pair, body)
            #expect(await pointer.error() == .invalidArgs)
            #expect(await pair.error("Who") == nil)
        }
    }

    @Test("L16: a connection with too many waiting calls is refused, and still answered")
    @BusActor
    func waitingCalls() async throws {
        try await withPair(limits: PrivateBus.wideLimits) { pair in
            // Makes the service identify its caller.
            #expect(await pair.error("Who") == nil)
            let ends = Collected<DBusError.Name?>()
            let tasks = (0..<MessageLimits.waitingCalls)
                .map { _ in onLoop { ends.add(await pair.error("Wait")) } }
            while pair.service.waits < MessageLimits.waitingCalls {
                #expect(await pair.error("Who") == nil)
            }
            #expect(await pair.error("RefuseLater") == .limitsExceeded)
            #expect(await pair.error("Who") == nil)
            for task in tasks { task.cancel() }
        }
    }

    @Test("L16: an oversized message is not sent, and its sender stays connected")
    @BusActor
    func largeMessages() async throws {
        try await withPair { pair in
            let most = UInt32(MessageLimits.sent / MessageLimits.bytes)
            let grown = Collected<Int>()
            let subscription = pair.client.subscribe(
                sender: pair.server.uniqueName,
                path: ExampleService.path,
                interface: ExampleService.name,
                member: "Grown",
                broadcast: false
            ) { message in
                let arrays = try? message.read("aay") { (reader) throws(DBusError) in
                    try reader.read([[UInt8]].self)
                }
                grown.add(arrays?.count ?? -1)
            }
            defer { subscription.cancel() }
            for (count, name) in [(most, DBusError.Name.limitsExceeded), (most - 1, nil)] {
                let error = await pair.error("Large", "u") { (writer) throws(DBusError) in
                    try writer.write(count)
                }
                #expect(error == name)
            }
            #expect(grown.values == [Int(most - 1)])
            let bytes = [UInt8](repeating: 0, count: MessageLimits.bytes)
            let call = await pair.error("Large", "aay") { (writer) throws(DBusError) in
                try writer.write([[UInt8]](repeating: bytes, count: Int(most)))
            }
            #expect(call == .limitsExceeded)
            #expect(await pair.error("Who") == nil)
        }
    }

    @Test("Object paths and signatures are checked")
    @BusActor
    func validation() {
        #expect(ObjectPath("/a/b_1") != nil)
        for text in ["", "a", "/a/", "//", "/a b", "/ä", "/a\0b"] {
            #expect(ObjectPath(text) == nil)
        }
        for text in ["", "s", "a{sv}", "(i(ss)av)", "a{oa{sa{sv}}}"] {
            #expect(Signature(text) != nil)
        }
        for text in ["a", "()", "(s", "{sv}", "a{vs}", "a{s}", "a{sss}", "z", ")"] {
            #expect(Signature(text) == nil)
        }
        #expect(Signature(String(repeating: "a", count: 40) + "s") == nil)
        #expect(Signature(String(repeating: "s", count: 256)) == nil)
    }
}
