import ClientTestSupport
import Foundation
import Glibc
import LocalAuthBus
import LocalAuthClient
import TestSupport
import Testing

@testable import DBus
@testable import LocalAuthentication

/// Tests the state of the environment, and notifications about changes.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct LAEnvironmentTests {
    @Test("The state contains each mechanism and whether it is usable")
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

    @Test("The state tells a lockout from a missing enrolment; the password is independent")
    func refusals() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            try await desk.startDaemon().startSensor(enrolling: nil)
            let empty = LAEnvironment.currentUser.state
            let none = try #require(empty.biometry)
            #expect(!none.isEnrolled && !none.isLockedOut && !none.isUsable)
            #expect(none.stateHash.isEmpty)
            #expect(empty.userPassword?.isSet == true)
            try await desk.enrollAnother()
            try await desk.waitUntilUsable()
            try await desk.lockBiometryOut()
            let locked = try #require(LAEnvironment.currentUser.state.biometry)
            #expect(locked.isEnrolled && locked.isLockedOut && !locked.isUsable)
        }
    }

    @Test("The state tells a sensor under the closed lid from a suspended sensor")
    func lid() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let service = try await StandInService(desk.bus)
            let sensor = await StandInSensor("Finger", at: service)
            for word in ["lid-closed", "suspended", ""] {
                let isCovered = await Self.isCovered(sensor, word)
                #expect(isCovered == (word == "lid-closed"), "\(word)")
            }
            await service.leave()
        }
    }

    @BusActor
    private static func isCovered(_ sensor: StandInSensor, _ word: String) async -> Bool? {
        sensor.unavailability = word
        var reading = await EnvironmentReading.now()
        // The type comes from a context, which the stand-in lacks.
        reading.domain.biometryType = .touchID
        return LAEnvironment.State(reading).biometry?.builtInSensorInaccessible
    }

    @Test("An observer gets the old state after a new enrolment, when the new state is current")
    func observer() async throws {
        try await ClientDesk.run { desk in
            let changes = await EventRecorder<Change>()
            let observer = Observer { change in onLoop { changes.record(change) } }
            var before = try #require(LAEnvironment.currentUser.state.biometry).stateHash
            LAEnvironment.currentUser.addObserver(observer)
            // Adding an observer may reveal the first change; a signal announces the second.
            var (told, known) = (0, 0)
            while known < 2 {
                try await desk.enrollAnother()
                let change = try await changes.next(told)
                told += 1
                // Nil: the service did not answer in time when the observer was added.
                if let old = change.old {
                    #expect(old == before)
                    #expect(change.new != before)
                    known += 1
                }
                before = change.new
            }
            try await Self.removal(of: observer, changes, before, at: desk)
        }
    }

    /// Removes an observer, which then misses the next enrolment.
    ///
    /// A successor and a state stream still receive changes.
    private static func removal(
        of observer: Observer,
        _ changes: EventRecorder<Change>,
        _ first: Data,
        at desk: Desk
    ) async throws {
        let environment = LAEnvironment.currentUser
        let (later, states) = (await EventRecorder<Change>(), await EventRecorder<Data?>())
        let successor = Observer { change in onLoop { later.record(change) } }
        defer { withExtendedLifetime((observer, successor)) {} }
        environment.addObserver(successor)
        let updates = environment.stateUpdates
        let reader = Task {
            for await state in updates { await states.record(state.biometry?.stateHash) }
        }
        defer { reader.cancel() }
        environment.removeObserver(observer)
        // A running notification also reaches a removed observer, and the successor comes last.
        try await desk.enrollAnother()
        let second = try await later.first("a change", within: .seconds(120)) { $0.new != first }
        try await desk.enrollAnother()
        let third = try await later.first("another one", within: .seconds(120)) {
            ![first, second.new].contains($0.new)
        }
        #expect(await !changes.seen.contains { $0.new == third.new })
        _ = try await states.first("a new state", within: .seconds(120)) { $0 != first }
        environment.removeObserver(successor)
    }

    @Test("Concurrent observers start one watch")
    func observersAtOnce() async throws {
        try await ClientDesk.run(isDaemonRunning: false) { desk in
            let service = try await StandInService(desk.bus)
            let watch = EnvironmentWatch()
            let beginnings = (0..<2).map { _ in onLoop { await watch.follow { _ in } } }
            for beginning in beginnings { await beginning.value }
            #expect(try await Self.watches() == 1)
            await service.leave()
        }
    }

    /// Returns the number of watches on the service's name.
    @BusActor private static func watches() async throws -> Int {
        let connection = try await ServiceConnection.shared.current().connection
        return connection.names.watches.count { $0.name == TestDaemon.name }
    }

    @Test("States before and after a change differ")
    func equality() async throws {
        try await ClientDesk.run { desk in
            let before = LAEnvironment.currentUser.state
            try await desk.enrollAnother()
            #expect(LAEnvironment.currentUser.state != before)
        }
    }

    fileprivate struct Change: Sendable {
        let old: Data?
        let new: Data
    }

    private final class Observer: NSObject, LAEnvironment.Observer {
        private let body: (Change) -> Void

        init(_ body: @escaping (Change) -> Void) {
            self.body = body
        }

        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        ) {
            let old = oldState.biometry?.stateHash
            while true {
                // Retry if the service did not answer in time.
                guard let new = environment.state.biometry?.stateHash else { continue }
                if old != new { body(Change(old: old, new: new)) }
                return
            }
        }
    }
}

extension EventRecorder<LAEnvironmentTests.Change> {
    /// Returns the element after `count` others.
    fileprivate func next(_ count: Int) async throws -> Element {
        _ = try await first("a change", within: .seconds(120)) { _ in seen.count > count }
        return seen[count]
    }
}
