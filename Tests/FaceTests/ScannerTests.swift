import CameraDevice
import Contract
import Synchronization
import Testing

@testable import FaceSensor

/// The path of a frame, with an engine and a camera of the test's own.
@Suite struct ScannerTests {
    /// Shows what a list says, then waits for the interruption.
    private final class List: FrameSource {
        let format = PixelFormat.grey
        private var rest: ArraySlice<UInt8>
        private let isEndless: Bool

        init(_ frames: [UInt8], isEndless: Bool = false) {
            rest = frames[...]
            self.isEndless = isEndless
        }

        func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
            if interruption.isRaised { throw .interrupted }
            guard let next = rest.popFirst() else { throw .disconnected }
            if isEndless { rest.append(next) }
            return Frame(format: .grey, width: 1, height: 1, stride: 1, bytes: [next])
        }
    }

    /// 0 nothing, 1 me, 2 a stranger, 3 one with closed eyes, 4 me from afar, 5 and 6 me on either
    /// side, 7 me with closed eyes, 8 the dark, 9 no picture, 100 and 101 me, turned to either
    /// side; others: me, a little different each.
    private static func eye(_ frame: Frame) -> Sight? {
        switch frame.bytes[0] {
        case 0: Seen.empty
        case 1: Seen.me
        case 2: Seen.stranger
        case 3: Seen.face(person: 3, eyes: 0.2)
        case 4: Seen.face(0.3, size: 0.13)
        case 5: Seen.face(0.3, x: 0.4)
        case 6: Seen.face(0.3, x: 0.6)
        case 7: Seen.face(0.3, eyes: 0.2)
        case 8: Seen.dark
        case 9: nil
        case 100: Seen.face(0.45, yaw: 0.2)
        case 101: Seen.face(0.45, yaw: -0.2)
        case let number: Seen.face(Float(number) * 0.006)
        }
    }

    private static let templates = [FaceTemplate(id: "mine", faces: [Seen.numbers()])]

    /// `pace`: how much later it is each time that the scanner looks at its clock.
    private func scanner(
        _ frames: [UInt8],
        isEndless: Bool = false,
        asksForLife: Bool = false,
        asksForAttention: Bool = true,
        pace: Duration = .seconds(1)
    ) throws -> Scanner {
        let begin = ContinuousClock.now
        let looks = Mutex(0)
        return try Scanner(
            threshold: .ordinary,
            asksForLife: asksForLife,
            asksForAttention: asksForAttention,
            eye: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (_, _) throws(CameraFault) in List(frames, isEndless: isEndless) },
            now: {
                begin
                    + pace
                    * looks.withLock { count in
                        count += 1
                        return count
                    }
            }
        )
    }

    private final class Reports: Sendable {
        private let list = Mutex<[Scanner.Report]>([])
        var all: [Scanner.Report] { list.withLock { $0 } }
        func add(_ report: Scanner.Report) { list.withLock { $0.append(report) } }
    }

    @Test("Verify tells that it looks, failed attempts and then the template")
    func verify() async throws {
        let frames = [0] + [UInt8](repeating: 2, count: 10) + [9, 1, 1]
        let reports = Reports()
        let match = try await scanner(frames)
            .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
        #expect(match.id == "mine")
        #expect(reports.all == [.ready, .noMatch])
    }

    /// Somebody in the emitter's light, who turns as soon as a list of reports says where to.
    private final class Sitter: FrameSource {
        let format = PixelFormat.grey
        private let reports: Reports
        private var isDark = false
        /// The frames of a turn, and the way back.
        private var turn: ArraySlice<UInt8>?

        init(_ reports: Reports) { self.reports = reports }

        func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
            isDark.toggle()
            if turn == nil {
                // The left of a person is the right of their picture.
                if reports.all.contains(.hint(.turnLeft)) { turn = [100, 100, 1, 1] }
                if reports.all.contains(.hint(.turnRight)) { turn = [101, 101, 1, 1] }
            }
            guard !isDark else { return Self.frame(8) }
            guard turn != nil else { return Self.frame(1) }
            guard let next = turn?.popFirst() else { throw .disconnected }
            return Self.frame(next)
        }

        private static func frame(_ number: UInt8) -> Frame {
            Frame(format: .grey, width: 1, height: 1, stride: 1, bytes: [number])
        }
    }

    @Test("Where life is asked for, a match takes the emitter's light and the turn that is told")
    func life() async throws {
        let (lit, inTurns): ([UInt8], [UInt8]) = ([1, 1], [1, 8])
        for (isLitInTurns, two) in [(false, lit), (true, inTurns)] {
            let frames = [[UInt8]](repeating: two, count: 20).flatMap(\.self)
            let reports = Reports()
            await #expect(throws: FaceFault.camera(.disconnected), "\(two)") {
                try await scanner(frames, asksForLife: true)
                    .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
            }
            let isTold = !Set(reports.all).isDisjoint(with: [.hint(.turnLeft), .hint(.turnRight)])
            #expect(isTold == isLitInTurns)
        }
        let reports = Reports()
        let other = try Scanner(
            threshold: .ordinary,
            asksForLife: true,
            eye: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (_, _) throws(CameraFault) in Sitter(reports) }
        )
        let match = try await other.verify(Self.templates, camera: .replay, Interruption()) {
            reports.add($0)
        }
        #expect(match.id == "mine")
    }

    @Test(
        "What a match showed is handed out only where it is good enough for an enrolment",
        arguments: [
            ([1, 1], true), ([4, 4], false), ([5, 6], false), ([7, 7], false),
        ] as [([UInt8], Bool)]
    )
    func goodMatch(_ frames: [UInt8], _ isGood: Bool) async throws {
        // Closed eyes match here, too.
        let match = try await scanner(frames, asksForAttention: false)
            .verify(Self.templates, camera: .replay, Interruption()) { _ in }
        #expect(match.id == "mine")
        #expect(match.face == (isGood ? Seen.me.numbers : nil))
    }

    @Test("A face that was looked at for less than three seconds has failed no attempt")
    func passing() async throws {
        let frames = [UInt8](repeating: 2, count: 30) + [1, 1]
        let reports = Reports()
        let match = try await scanner(frames, pace: .milliseconds(10))
            .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
        #expect(match.id == "mine")
        #expect(reports.all == [.ready])
    }

    @Test("Who leaves in time and comes back again and again fails; who passes does not")
    func passingAgain() async throws {
        // Three ticks of the clock a frame with a face: about a second of a stranger, then nobody.
        let passing = [UInt8](repeating: 2, count: 9) + [UInt8](repeating: 0, count: 12)
        for (times, isMiss) in [(1, false), (3, false), (4, true)] {
            let frames = [[UInt8]](repeating: passing, count: times).flatMap(\.self)
            let reports = Reports()
            let match = try await scanner(frames + [1, 1], pace: .milliseconds(40))
                .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
            #expect(match.id == "mine")
            #expect(reports.all.contains(.noMatch) == isMiss, "\(times) times")
        }
    }

    @Test("Three seconds are of faces that could match: closed eyes and an empty room are none")
    func goodSeconds() async throws {
        let (nine, asleep) = ([UInt8](repeating: 2, count: 9), [UInt8](repeating: 3, count: 40))
        let empty = [UInt8](repeating: 0, count: 12)
        // Three ticks of the clock a frame with a face: 40 are more than three seconds.
        for frames in [nine + empty + asleep + [2], [2] + asleep + nine + [2]] {
            let reports = Reports()
            let match = try await scanner(frames + [1, 1], pace: .milliseconds(30))
                .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
            #expect(match.id == "mine")
            #expect(!reports.all.contains(.noMatch))
        }
        let reports = Reports()
        let stranger = [UInt8](repeating: 2, count: 60)
        _ = try await scanner(asleep + stranger + [1, 1], pace: .milliseconds(30))
            .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
        #expect(reports.all.contains(.noMatch))
    }

    @Test("When nobody was there for ten seconds, two pictures a second are looked at")
    func emptyRoom() async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        let empty = [UInt8](repeating: 0, count: 4)
        let match = try await scanner(empty + [1, 1], pace: .seconds(6))
            .verify(Self.templates, camera: .replay, Interruption()) { _ in }
        #expect(match.id == "mine")
        #expect(clock.now - begin > .milliseconds(900))
    }

    @Test("What the camera kept from a pause in an empty room is not looked at")
    func staleFrames() async throws {
        let looked = Mutex<[UInt8]>([])
        let begin = ContinuousClock.now
        let looks = Mutex(0)
        let scanner = try Scanner(
            threshold: .ordinary,
            asksForLife: false,
            eye: { () throws(FaceFault) in
                { frame in
                    looked.withLock { $0.append(frame.bytes[0]) }
                    return Self.eye(frame)
                }
            },
            camera: { (_, _) throws(CameraFault) in List([0, 2, 0, 2, 1, 1]) },
            now: {
                begin
                    + .seconds(6)
                    * looks.withLock { count in
                        count += 1
                        return count
                    }
            }
        )
        _ = try await scanner.verify(Self.templates, camera: .replay, Interruption()) { _ in }
        #expect(looked.withLock { $0 } == [0, 0, 1, 1])
    }

    @Test("Enroll tells five stages and answers five faces")
    func enroll() async throws {
        let reports = Reports()
        let faces = try await scanner([0, 10, 20, 30, 40, 50])
            .enroll(camera: .replay, Interruption()) { reports.add($0) }
        #expect(faces.count == 5)
        #expect(reports.all == [.ready] + (1...5).map { .stage($0) })
    }

    @Test("L25: a camera that another program has is waited for, and then it looks")
    func busy() async throws {
        let reports = Reports()
        let tries = Mutex(0)
        let scanner = try Scanner(
            threshold: .ordinary,
            asksForLife: false,
            eye: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (_, _) throws(CameraFault) in
                let number = tries.withLock { count in
                    count += 1
                    return count
                }
                guard number > 12 else { throw .busy }
                return List([1, 1])
            }
        )
        let match = try await scanner.verify(
            Self.templates,
            camera: .replay,
            Interruption()
        ) { reports.add($0) }
        #expect(match.id == "mine")
        // One pause after each refusal: it looks within half a second of the camera's being free.
        #expect(reports.all == [Scanner.Report](repeating: .busy, count: 12) + [.ready])
        #expect(tries.withLock { $0 } == 13)
        #expect(Scanner.busyPause <= 500)
    }

    @Test("L25: waiting for the camera ends when it is interrupted")
    func busyAndCanceled() async throws {
        let scanner = try Scanner(
            threshold: .ordinary,
            asksForLife: false,
            eye: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (_, _) throws(CameraFault) in throw .busy }
        )
        let interruption = try Interruption()
        await #expect(throws: FaceFault.camera(.interrupted)) {
            try await scanner.verify(Self.templates, camera: .replay, interruption) { report in
                if report == .busy { interruption.raise() }
            }
        }
    }

    @Test("An interruption ends the operation, also one that came first")
    func interruption() async throws {
        let scanner = try scanner([0, 2], isEndless: true)
        let interruption = try Interruption()
        await #expect(throws: FaceFault.camera(.interrupted)) {
            try await scanner.verify(Self.templates, camera: .replay, interruption) { report in
                if report == .noMatch { interruption.raise() }
            }
        }
        let reports = Reports()
        await #expect(throws: FaceFault.camera(.interrupted)) {
            try await scanner.verify(Self.templates, camera: .replay, interruption) {
                reports.add($0)
            }
        }
        #expect(reports.all.isEmpty)
    }

    @Test("A match that the engine finds after the interruption doesn't count")
    func lateMatch() async throws {
        let interruption = try Interruption()
        let scanner = try Scanner(
            threshold: .ordinary,
            asksForLife: false,
            eye: { () throws(FaceFault) in
                { frame in
                    if frame.bytes[0] == 1 { interruption.raise() }
                    return Self.eye(frame)
                }
            },
            camera: { (_, _) throws(CameraFault) in List([10, 1, 1]) }
        )
        await #expect(throws: FaceFault.camera(.interrupted)) {
            try await scanner.verify(Self.templates, camera: .replay, interruption) { _ in }
        }
    }

    @Test("A camera that goes away, or gives only broken pictures, ends the operation")
    func cameraFaults() async throws {
        await #expect(throws: FaceFault.camera(.disconnected)) {
            try await scanner([0]).verify(Self.templates, camera: .replay, Interruption()) { _ in }
        }
        await #expect(throws: FaceFault.self) {
            try await scanner([9], isEndless: true)
                .verify(Self.templates, camera: .replay, Interruption()) { _ in }
        }
    }

    @Test("The engine is made once; when that fails the next operation tries again")
    func engine() async throws {
        let tries = Mutex(0)
        let scanner = try Scanner(
            threshold: .ordinary,
            asksForLife: false,
            eye: { () throws(FaceFault) in
                let count = tries.withLock {
                    $0 += 1
                    return $0
                }
                guard count > 1 else { throw .failed("no models") }
                return { Self.eye($0) }
            },
            camera: { (_, _) throws(CameraFault) in List([1, 1]) }
        )
        await #expect(throws: FaceFault.failed("no models")) { try await scanner.warmUp() }
        for _ in 0..<2 {
            _ = try await scanner.verify(Self.templates, camera: .replay, Interruption()) { _ in }
        }
        #expect(tries.withLock { $0 } == 2)
    }

    @Test("The camera is opened as the one that is expected, by Verify and by Enroll")
    func expected() async throws {
        let asked = Mutex<[CameraIdentity]>([])
        let scanner = try Scanner(
            threshold: .ordinary,
            asksForLife: false,
            eye: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (expected, _) throws(CameraFault) in
                asked.withLock { $0.append(expected) }
                throw .untrusted("another one")
            }
        )
        let fault = FaceFault.camera(.untrusted("another one"))
        await #expect(throws: fault) {
            try await scanner.verify(Self.templates, camera: .replay, Interruption()) { _ in }
        }
        await #expect(throws: fault) {
            try await scanner.enroll(camera: .replay, Interruption()) { _ in }
        }
        #expect(asked.withLock { $0 } == [.replay, .replay])
    }
}
