import DBus
import Glibc
import TestSupport
import Testing

@testable import AuthService

@Suite("Helper processes", .timeLimit(.minutes(10)))
struct SupervisedServiceTests {
    // Some tests run on the loop, which must have started before.
    init() { EventLoop.shared.startThread() }

    private static let name = "org.example.Helper"

    @BusActor
    private final class User: SupervisedServiceUser {
        var distrust: String?
        private(set) var heard: [String] = []

        func distrust(of uid: UInt32?) -> String? { uid == nil ? nil : distrust }
        func ownerArrived() { heard.append("arrived") }
        func ownerLeft() { heard.append("left") }
        func prepare(_ peer: Peer) async -> ServiceAbsence? { nil }
        func lost(_ absence: ServiceAbsence, because fault: String?) { heard.append("lost") }
    }

    /// Runs a service and its user on a bus that can start the helper.
    ///
    /// A start creates the file `wanted`.
    private static func run(
        starts: SupervisedService.Start,
        _ body:
            @escaping @BusActor (PrivateBus, SupervisedService, User, _ wanted: String)
            async throws -> Void
    ) async throws {
        try await PrivateBus.run { bus in
            let (script, wanted) = (bus.folder + "/want", bus.folder + "/wanted")
            try TemporaryFolder.write(script, "touch \(wanted)\n".utf8)
            try await bus.offer(name, ["/bin/sh", script])
            let service = SupervisedService(
                name,
                on: try bus.connect(),
                starts: starts,
                patience: .seconds(60)
            )
            let user = User()
            service.user = user
            service.startWatching()
            try await body(bus, service, user, wanted)
        }
    }

    /// Connects a process that takes the helper's name.
    @BusActor
    private static func helper(
        _ bus: PrivateBus,
        of service: SupervisedService
    ) async throws -> Connection {
        let helper = try bus.connect()
        try helper.requestName(name)
        try await eventually("the helper to be ready") { service.state == .ready }
        return helper
    }

    @Test("L26: a helper that exits cleanly sleeps, and a helper that vanishes has crashed")
    func ends() async throws {
        try await Self.run(starts: .onDemand) { bus, service, user, _ in
            let first = try await Self.helper(bus, of: service)
            first.releaseName(Self.name)
            try await eventually("sleep") { service.state == .asleep }
            #expect(await service.hasDeparted(first.uniqueName))
            let second = try await Self.helper(bus, of: service)
            second.close()
            try await eventually("a crash") { service.state == .broken(.crashed) }
            #expect(user.heard == ["arrived", "left", "arrived", "left", "lost"])
        }
    }

    @Test("L26: calls share a start and get the started helper")
    func start() async throws {
        try await Self.run(starts: .onDemand) { bus, service, _, wanted in
            let calls = (0..<3)
                .map { _ in
                    Task.immediate { @BusActor in await service.currentOwner() }
                }
            try await eventually("a start") { access(wanted, F_OK) == 0 }
            #expect(service.absence == .starting)
            let helper = try await Self.helper(bus, of: service)
            for call in calls { #expect(await call.value == helper.uniqueName) }
            #expect(service.absence == nil)
        }
    }

    @Test("L16: a helper that other programs start is watched, but never started")
    func watched() async throws {
        try await Self.run(starts: .never) { bus, service, user, wanted in
            try await eventually("no helper") { service.state == .broken(.notInstalled) }
            #expect(await service.currentOwner() == nil)
            let helper = try await Self.helper(bus, of: service)
            #expect(service.peer?.name == helper.uniqueName)
            helper.close()
            try await eventually("no helper") { service.state == .broken(.notInstalled) }
            #expect(!user.heard.contains("lost") && access(wanted, F_OK) != 0)
        }
    }

    @Test("L16: an untrusted owner is not prepared until the trust changes")
    func trust() async throws {
        try await Self.run(starts: .onDemand) { bus, service, user, _ in
            user.distrust = "No."
            let helper = try bus.connect()
            try helper.requestName(Self.name)
            try await eventually("a refusal") { service.state == .broken(.untrusted("No.")) }
            #expect(service.peer == nil && !service.isKnown)
            user.distrust = nil
            #expect(await service.currentOwner() == helper.uniqueName)
        }
    }

    @Test("L31: an untrusted owner that leaves does not delay the helper's start")
    func stranger() async throws {
        try await Self.run(starts: .onDemand) { bus, service, user, _ in
            user.distrust = "No."
            for _ in 0..<3 {
                let stranger = try bus.connect()
                try stranger.requestName(Self.name)
                try await eventually("a refusal") { service.state == .broken(.untrusted("No.")) }
                stranger.close()
                try await eventually("its end") { service.state == .asleep }
            }
            user.distrust = nil
            let helper = try await Self.helper(bus, of: service)
            #expect(await service.currentOwner() == helper.uniqueName)
        }
    }

    @Test("L20: an owner whose exit signal was lost is noticed by asking the bus")
    func unheard() async throws {
        try await Self.run(starts: .onDemand) { bus, service, _, _ in
            let helper = try await Self.helper(bus, of: service)
            let name = helper.uniqueName
            try await bus.lose(.nameOwnerChanged)
            helper.close()
            let observer = try bus.connect()
            try await eventually("the bus to know") { try await observer.nameOwner(name) == nil }
            #expect(service.owner == name)
            #expect(await service.isOwner(name) == false)
            #expect(service.owner == nil && service.state != .ready)
        }
    }
}
