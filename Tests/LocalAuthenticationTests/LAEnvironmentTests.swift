import ClientTestSupport
import DBus
import Foundation
import Glibc
import LocalAuthBus
import LocalAuthentication
import TestSupport
import Testing

/// What could authenticate the user, and how programs hear of changes.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct LAEnvironmentTests {
    @Test("The state says which mechanisms there are and whether they can be used")
    func state() async throws {
        try await ClientDesk.run { _ in
            let state = LAEnvironment.currentUser.state
            let biometry = try #require(state.biometry)
            #expect(biometry.biometryType == .touchID)
            #expect(biometry.isEnrolled && biometry.isUsable && !biometry.isLockedOut)
            #expect(biometry.stateHash.count == 32)
            #expect(!biometry.builtInSensorInaccessible)
            #expect(state.userPassword?.isSet == true)
            #expect(state.companions.isEmpty)
            #expect(state.allMechanisms.count == 2)
            #expect((state.copy() as? LAEnvironment.State) == state)
        }
    }

    @Test("Observers hear of a new finger and get the old state; the new one is there already")
    func observer() async throws {
        try await ClientDesk.run { desk in
            let (changes, feed) = AsyncStream.makeStream(of: (old: Data?, new: Data).self)
            let observer = Observer { old, new in feed.yield((old, new)) }
            var before = try #require(LAEnvironment.currentUser.state.biometry).stateHash
            LAEnvironment.currentUser.addObserver(observer)
            try await desk.enrollAnother()
            _ = try await desk.manager.canEvaluate(policy: 1)
            for await change in changes {
                guard let old = change.old else {
                    // The service had not answered in time when the observer was added.
                    before = change.new
                    try await desk.enrollAnother()
                    continue
                }
                #expect(old == before)
                #expect(change.new != before)
                break
            }
            LAEnvironment.currentUser.removeObserver(observer)
        }
    }

    @Test("A state of before is another than one of after")
    func equality() async throws {
        try await ClientDesk.run { desk in
            let before = LAEnvironment.currentUser.state
            try await desk.enrollAnother()
            #expect(LAEnvironment.currentUser.state != before)
        }
    }

    private final class Observer: NSObject, LAEnvironment.Observer {
        private let body: (Data?, Data) -> Void

        init(_ body: @escaping (Data?, Data) -> Void) {
            self.body = body
        }

        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        ) {
            let old = oldState.biometry?.stateHash
            while true {
                // A service that didn't answer in time is asked again.
                guard let new = environment.state.biometry?.stateHash else { continue }
                if old != new { body(old, new) }
                return
            }
        }
    }
}
