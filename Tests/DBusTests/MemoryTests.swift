import Glibc
import Testing

@testable import DBus

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct MemoryTests {
    @Test("Ten thousand hidden objects need at most 4 KiB each")
    @BusActor
    func objects() async throws {
        try await withPair { pair in
            let owner = try await pair.server.peer(named: pair.client.uniqueName)
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

    @Test("Removing ten thousand objects frees their table and keeps the others")
    @BusActor
    func departedObjects() async throws {
        try await withPair { pair in
            let staying = ObjectPath(trusted: "/org/example/Test1/staying")
            pair.server.export(staying, [ExampleService(pair.server)])
            let before = Set(pair.server.objects.exported.keys)
            let paths = (0..<10_000).map { ObjectPath(unchecked: "/org/example/Test1/gone_\($0)") }
            for path in paths { pair.server.export(path, [ExampleService(pair.server)]) }
            #expect(pair.server.objects.exported.capacity >= paths.count)
            for path in paths { pair.server.unexport(path) }
            #expect(before.contains(staying.rawValue))
            #expect(Set(pair.server.objects.exported.keys) == before)
            #expect(pair.server.objects.exported.capacity < 2048)
        }
    }

    @Test("Closing a connection frees its uncanceled subscriptions")
    @BusActor
    func subscriptions() async throws {
        weak var subscription: EventSource?
        try await withPair { pair in
            subscription = pair.client.subscribe(
                sender: pair.server.uniqueName,
                path: nil,
                interface: ExampleService.name,
                member: nil,
                broadcast: false
            ) { _ in }
            #expect(subscription != nil)
        }
        #expect(subscription == nil)
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
