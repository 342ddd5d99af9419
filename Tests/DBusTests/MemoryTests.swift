import DBus
import Glibc
import Testing

/// What many objects cost.
@Suite(.runningLoop, .timeLimit(.minutes(1)))
struct MemoryTests {
    @Test("Ten thousand hidden objects need at most 4 KiB each")
    @BusActor
    func objects() async throws {
        try await withDirectPair { pair in
            let owner = try await pair.server.peer(named: Peer.direct)
            let count = 10_000
            let before = try residentBytes()
            for number in 0..<count {
                let path = ObjectPath(
                    unchecked: "/org/example/Test1/context/0123456789abcdef0123456789_\(number)"
                )
                pair.server.export(path, [ExampleService(pair.server)], visibleTo: owner)
            }
            let each = (try residentBytes() - before) / count
            #expect(each < 4096, "\(each) bytes each")
        }
    }

    private func residentBytes() throws -> Int {
        let file = try #require(fopen("/proc/self/statm", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        try #require(fgets(&line, Int32(line.count), file) != nil)
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let resident = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return try #require(resident) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
