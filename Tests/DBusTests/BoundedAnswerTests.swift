import CSystemd
import TestSupport
import Testing

@testable import DBus

@Suite("Answers that are too long", .timeLimit(.minutes(10)))
struct BoundedAnswerTests {
    // The functions run on the loop, so it has to run before them.
    init() { EventLoop.shared.startThread() }

    /// Its property has more values than any part of a service has a use for.
    private struct Talker: ServedInterface {
        static let description = InterfaceDescription(
            name: "org.localauth.Talker",
            methods: [:],
            properties: [
                .init(name: "Words", signature: "ab", isWritable: false, change: .value)
            ],
            introspection: #"<interface name="org.localauth.Talker"/>"#
        )

        func invoke(_ member: String, _ call: IncomingCall) throws(DBusError) {
            throw DBusError(.unknownMethod, "There is no such method.")
        }

        func get(
            _ property: String,
            for peer: Peer?,
            into writer: inout MessageWriter
        ) throws(DBusError) {
            try writer.write([Bool](repeating: true, count: MessageLimits.valuesOfCall))
        }

        func set(
            _ property: String,
            from reader: inout MessageReader,
            by peer: Peer
        ) throws(DBusError) {
            throw DBusError(.propertyReadOnly, "The property is read-only.")
        }
    }

    @Test("L21: who serves strangers takes no more values in an answer than in a call")
    @BusActor
    func values() async throws {
        try await PrivateBus.run { bus in
            let talker = try bus.connect()
            let path = ObjectPath(trusted: "/talker")
            talker.export(path, [Talker()])
            for servesStrangers in [false, true] {
                let asker = try bus.connect()
                if servesStrangers { asker.serveStrangers() }
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
                #expect(refusal?.name == (servesStrangers ? .invalidArgs : nil))
            }
        }
    }

    @Test("L21: a dictionary of a call has few entries, and no long names")
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
                    var pointer: OpaquePointer?
                    sd_bus_message_new_method_call(connection.bus, &pointer, nil, "/", nil, "Take")
                    let message = Message(adopting: try #require(pointer))
                    _ = try OutgoingMessage.fill(message.pointer, "v") {
                        (writer) throws(DBusError) in try value.write(to: &writer)
                    }
                    sd_bus_message_seal(message.pointer, 1, 0)
                    for isBounded in [true, false] {
                        sd_bus_message_rewind(message.pointer, 1)
                        var reader = MessageReader(message.pointer, isBounded: isBounded)
                        let read = try? reader.read(Variant.self)
                        #expect((read != nil) == (isTaken || !isBounded), "\(count), \(length)")
                    }
                }
            }
        }
    }

    @Test("L21: the elements of all arrays of a call have one bound")
    @BusActor
    func elements() async throws {
        try await PrivateBus.run { bus in
            let connection = try bus.connect()
            let half = MessageLimits.elementsOfCall / 2
            for (count, isTaken) in [(half, true), (half + 1, false)] {
                var pointer: OpaquePointer?
                sd_bus_message_new_method_call(connection.bus, &pointer, nil, "/", nil, "Take")
                let message = Message(adopting: try #require(pointer))
                _ = try OutgoingMessage.fill(message.pointer, "abas") {
                    (writer) throws(DBusError) in
                    try writer.write([Bool](repeating: true, count: count))
                    try writer.write([String](repeating: "", count: count))
                }
                sd_bus_message_seal(message.pointer, 1, 0)
                for isBounded in [true, false] {
                    sd_bus_message_rewind(message.pointer, 1)
                    var reader = MessageReader(message.pointer, isBounded: isBounded)
                    let flags = try? reader.read([Bool].self)
                    let texts = try? reader.read([String].self)
                    #expect(flags?.count == count)
                    #expect((texts != nil) == (isTaken || !isBounded), "\(count)")
                }
            }
        }
    }
}
