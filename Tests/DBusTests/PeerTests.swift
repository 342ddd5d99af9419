import TestSupport
import Testing

@testable import DBus

/// Who may be somebody.
@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct PeerTests {
    @Test("L1: without a uid or a process nobody is known, and 2^32-1 is no uid")
    @BusActor
    func nobody() {
        #expect(Peer(name: ":1.1", uid: 1000, pid: 7)?.uid == 1000)
        #expect(Peer(name: ":1.1", uid: 0, pid: 7)?.uid == 0)
        // One that would be negative with a sign is a uid like any other.
        #expect(Peer(name: ":1.1", uid: 4_000_000_000, pid: 7)?.uid == 4_000_000_000)
        #expect(Peer(name: ":1.1", uid: nil, pid: 7) == nil)
        #expect(Peer(name: ":1.1", uid: .max, pid: 7) == nil)
        for pid in [nil, 0, -1, Int32.min] {
            #expect(Peer(name: ":1.1", uid: 1000, pid: pid) == nil)
        }
    }

    @Test("L1: who has left the bus can't be looked up, and a well-known name is nobody")
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
