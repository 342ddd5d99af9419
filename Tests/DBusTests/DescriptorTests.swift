import DBus
import Glibc
import Linux
import Testing

/// File descriptors over a socket pair.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct DescriptorTests {
    @Test("A descriptor arrives open, and the receiver's copy is closed when it is done")
    @BusActor
    func passing() async throws {
        try await withDirectPair { pair in
            let file = try Files.holding([4, 5, 6])
            let reply = try await pair.call("Measure", "h") { (writer) throws(DBusError) in
                try writer.write(file)
            }
            let bytes = try reply.read("ay") { (reader) throws(DBusError) in
                try reader.read([UInt8].self)
            }
            #expect(bytes == [4, 5, 6])
            // Both copies of the receiver are gone: the read end that is left is ours alone.
            #expect(pair.service.seenDescriptor >= 0)
            #expect(Self.openEnds(of: file) == 1)
        }
    }

    @Test("A descriptor in a reply outlives the reply")
    @BusActor
    func receiving() async throws {
        try await withDirectPair { pair in
            let file = try await pair.call("Open")
                .read("h") { (reader) throws(DBusError) in
                    try reader.read(OwnedDescriptor.self)
                }
            #expect(Files.contents(of: file) == [1, 2, 3])
            #expect(fcntl(file.rawValue, F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test("More descriptors than a message may have are refused")
    @BusActor
    func tooMany() async throws {
        try await withDirectPair { pair in
            let file = try Files.holding([1])
            let name = await pair.error("Containers", "ayasaua{sv}aa{sv}(is)va{us}") {
                (writer) throws(DBusError) in
                var values = ContainerValues()
                values.list = Array(
                    repeating: ["file": .descriptor(file)],
                    count: MessageLimits.descriptors + 1
                )
                try values.write(to: &writer)
            }
            #expect(name == .invalidArgs)
            #expect(Self.openEnds(of: file) == 1)
        }
    }

    /// How many descriptors of this process are the same open file.
    static func openEnds(of file: OwnedDescriptor) -> Int {
        var wanted = stat()
        fstat(file.rawValue, &wanted)
        return (0..<4096)
            .count { number in
                var other = stat()
                return fstat(Int32(number), &other) == 0 && other.st_ino == wanted.st_ino
                    && other.st_dev == wanted.st_dev
            }
    }
}
