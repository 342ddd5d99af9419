import TestSupport
import Testing

@testable import DBus

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct PeerTests {
    @Test("L1: a peer needs a uid and a process, and 2^32-1 is no uid")
    @BusActor
    func nobody() async throws {
        try await withBus { _, server, _ in
            @BusActor func uid(_ uid: UInt32?, pid: Int32? = 7) -> UInt32? {
                Peer(name: ":1.1", uid: uid, pid: pid, on: server)?.uid
            }
            // A uid above the largest signed number is valid.
            for number in [0, 1000, 4_000_000_000] as [UInt32] { #expect(uid(number) == number) }
            for number in [nil, .max] as [UInt32?] { #expect(uid(number) == nil) }
            for pid in [nil, 0, -1, .min] as [Int32?] { #expect(uid(1000, pid: pid) == nil) }
        }
    }

    @Test("L1: absent peers and well-known names cannot be looked up")
    @BusActor
    func vanished() async throws {
        try await withBus { _, server, client in
            let name = client.uniqueName
            client.close()
            while try await server.nameOwner(name) != nil { await Task.yield() }
            for name in [name, "org.freedesktop.DBus", "org.example.Nobody", ""] {
                do throws(DBusError) {
                    _ = try await server.peer(named: name)
                    Issue.record("\(name) is somebody")
                } catch {
                    #expect([.nameHasNoOwner, .invalidArgs].contains(error.name))
                }
            }
        }
    }
}
