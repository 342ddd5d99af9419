import BusGuard
import TestSupport
import Testing

@testable import DBus

@Suite("Limits of calls and answers", .timeLimit(.minutes(10)))
struct BoundedAnswerTests {
    // The functions run on the loop, so the loop must run first.
    init() { EventLoop.shared.startThread() }

    /// A service with a property of more values than any caller needs.
    private struct Talker: ServedInterface {
        static let description = InterfaceDescription(
            name: "org.localauth.Talker",
            methods: [:],
            properties: [
                .init(name: "Words", signature: "ab", isWritable: false, change: .value)
            ],
            introspection: #"<interface name="org.localauth.Talker"/>"#
        )

        func get(
            _ property: String,
            for peer: Peer?,
            into writer: inout MessageWriter
        ) throws(DBusError) {
            try writer.write([Bool](repeating: true, count: MessageLimits.valuesOfCall))
        }
    }

    @Test("L21: a guarded connection accepts no more values in an answer than in a call")
    @BusActor
    func values() async throws {
        try await PrivateBus.run { bus in
            let talker = try bus.connect()
            let path = ObjectPath(trusted: "/talker")
            talker.export(path, [Talker()])
            for isGuarded in [false, true] {
                let asker = try bus.connect()
                if isGuarded { _ = NeighbourGuard(asker) }
                var refusal: DBusError?
                do throws(DBusError) {
                    _ = try await asker.properties(
                        of: Talker.description.name,
                        at: path,
                        on: talker.uniqueName
                    )
                } catch {
                    refusal = error
                }
                #expect(refusal?.name == (isGuarded ? .invalidArgs : nil))
            }
        }
    }

    @Test("L21: a dictionary in a call has few entries and short keys")
    @BusActor
    func dictionaries() async throws {
        try await PrivateBus.run { bus in
            let connection = try bus.connect()
            let most = MessageLimits.dictionaryOfCall
            for (count, length, isTaken) in [
                (most, 256, true), (most + 1, 8, false), (2, 257, false),
            ] {
                var options: [String: Variant] = [:]
                for number in 0..<count {
                    let digits = String(1000 + number)
                    options[String(repeating: "x", count: length - 4) + digits] = .bool(true)
                }
                for value in [
                    Variant.dictionary(options), .dictionary(["options": .dictionary(options)]),
                ] {
                    let message = try LocalCall.make(on: connection, "v") {
                        (writer) throws(DBusError) in try writer.write(value)
                    }
                    for isBounded in [true, false] {
                        message.isBounded = isBounded
                        let read = try? message.read("v") { (reader) throws(DBusError) in
                            try reader.read(Variant.self)
                        }
                        #expect((read != nil) == (isTaken || !isBounded), "\(count), \(length)")
                    }
                }
            }
        }
    }

    @Test("L21: the elements of all arrays of a call share a limit")
    @BusActor
    func elements() async throws {
        try await PrivateBus.run { bus in
            let connection = try bus.connect()
            let half = MessageLimits.elementsOfCall / 2
            for (count, isTaken) in [(half, true), (half + 1, false)] {
                let message = try LocalCall.make(on: connection, "abas") {
                    (writer) throws(DBusError) in
                    try writer.write([Bool](repeating: true, count: count))
                    try writer.write([String](repeating: "", count: count))
                }
                for isBounded in [true, false] {
                    message.isBounded = isBounded
                    var flags: [Bool] = []
                    let texts = try? message.read("abas") { (reader) throws(DBusError) in
                        flags = try reader.read([Bool].self)
                        return try reader.read([String].self)
                    }
                    #expect(flags.count == count)
                    #expect((texts != nil) == (isTaken || !isBounded), "\(count)")
                }
            }
        }
    }

    @Test("L21: the values in variants of a call have a limit; answers may have more")
    @BusActor
    func variants() async throws {
        try await PrivateBus.run { bus in
            let connection = try bus.connect()
            for (count, isOfCall, isTaken) in [
                (1000, true, true), (MessageLimits.valuesOfCall, true, false),
                (MessageLimits.valuesOfCall, false, true),
            ] {
                let value = Variant.array(
                    element: Signature(unchecked: "(b)"),
                    [Variant](repeating: .structure([.bool(true)]), count: count / 2)
                )
                let message = try LocalCall.make(on: connection, "v") {
                    (writer) throws(DBusError) in try writer.write(value)
                }
                message.isBounded = isOfCall
                var size = 0
                let read = try? message.read("v") { (reader) throws(DBusError) in
                    defer { size = reader.size }
                    return try reader.read(Variant.self)
                }
                #expect((read != nil) == isTaken, "\(count)")
                // Waiting calls are counted by their memory.
                #expect(!isTaken || size >= 2 * count * MessageLimits.bytesOfElement)
            }
        }
    }
}
