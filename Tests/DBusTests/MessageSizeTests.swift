import TestSupport
import Testing

@testable import DBus

/// Sizes of messages, which bound how many may wait.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct MessageSizeTests {
    /// The size of a call with a single value.
    @BusActor
    private func size(_ value: some WireType, on server: Connection) throws -> Int? {
        try LocalCall.make(on: server, type(of: value).signature) { (writer) throws(DBusError) in
            try writer.write(value)
        }
        .size
    }

    @Test("The size of a message covers all values at any depth")
    @BusActor
    func sizes() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            #expect(try LocalCall.make(on: server).size == 0)
            #expect(try size("four", on: server) == 8 + 4)
            #expect(try size([UInt8](repeating: 0, count: 100), on: server) == 8 + 100)
            #expect(try size([Bool](repeating: true, count: 100), on: server) == 8 + 400)
            #expect(try size(["four", ""], on: server) == 8 + 8 + 4 + 8)
            #expect(try size(Pair(number: 1, text: "four"), on: server) == 8 + 8 + 8 + 4)
            // The dictionary, its entry, the name, and two variants around the text.
            let options = ["name": Variant.variant(.string("four"))]
            #expect(try size(options, on: server) == 8 + 8 + 8 + 4 + 8 + 8 + 8 + 4)
        }
    }

    @Test("L21: a message with more values than a call may have has no size")
    @BusActor
    func tooMany() async throws {
        try await PrivateBus.run { bus in
            let server = try bus.connect()
            // The array is a value too.
            let most = MessageLimits.elementsOfCall - 1
            for (count, isMeasured) in [(most, true), (most + 1, false)] {
                let texts = [String](repeating: "", count: count)
                #expect(try (size(texts, on: server) != nil) == isMeasured)
            }
        }
    }
}
