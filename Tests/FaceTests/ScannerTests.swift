import CameraDevice
import Contract
import Synchronization
import Testing

@testable import FaceSensor

/// Tests the path of a frame, with a simulated engine and camera.
@Suite struct ScannerTests {
    /// Delivers a list of frames, then disconnects.
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

    /// Simulates the engine.
    ///
    /// "Me" is the enrolled person.
    ///
    /// - 0 empty
    /// - 1 me
    /// - 2 another person
    /// - 3 another person with closed eyes
    /// - 4 me from afar
    /// - 5 and 6 me on either side
    /// - 7 me with closed eyes
    /// - 8 dark
    /// - 9 broken
    /// - 100 and 101 me, turned to either side
    /// - other numbers: me, slightly different each
    private static func eye(_ frame: Frame) -> FrameFindings? {
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

    /// Makes a scanner whose clock advances by `pace` each time it is read.
    private func scanner(
        _ frames: [UInt8],
        isEndless: Bool = false,
        requiresLiveness: Bool = false,
        asksForAttention: Bool = true,
        pace: Duration = .seconds(1)
    ) throws -> Scanner {
        let begin = ContinuousClock.now
        let looks = Mutex(0)
        return try Scanner(
            threshold: .ordinary,
            requiresLiveness: requiresLiveness,
            asksForAttention: asksForAttention,
            makeAnalyzer: { () throws(FaceFault) in { Self.eye($0) } },
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

    @Test("Verify reports readiness, misses and then the template")
    func verify() async throws {
        let frames = [0] + [UInt8](repeating: 2, count: 10) + [9, 1, 1]
        let reports = Reports()
        let match = try await scanner(frames)
            .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
        #expect(match.id == "mine")
        #expect(reports.all == [.ready, .miss])
    }

    /// Simulates a user in the emitter's light who turns as soon as a hint requests it.
    private final class Sitter: FrameSource {
        let format = PixelFormat.grey
        private let reports: Reports
        private var isDark = false
        /// The frames of the turn and the way back.
        private var turn: ArraySlice<UInt8>?

        init(_ reports: Reports) { self.reports = reports }

        func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
            isDark.toggle()
            if turn == nil {
                // A person's left is on the right side of the picture.
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

    @Test("With the liveness check, a match needs the emitter's light and the requested turn")
    func life() async throws {
        let (lit, inTurns): ([UInt8], [UInt8]) = ([1, 1], [1, 8])
        for (isLitInTurns, two) in [(false, lit), (true, inTurns)] {
            let frames = [[UInt8]](repeating: two, count: 20).flatMap(\.self)
            let reports = Reports()
            await #expect(throws: FaceFault.camera(.disconnected), "\(two)") {
                try await scanner(frames, requiresLiveness: true)
                    .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
            }
            let isTold = !Set(reports.all).isDisjoint(with: [.hint(.turnLeft), .hint(.turnRight)])
            #expect(isTold == isLitInTurns)
        }
        let reports = Reports()
        let other = try Scanner(
            threshold: .ordinary,
            requiresLiveness: true,
            makeAnalyzer: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (_, _) throws(CameraFault) in Sitter(reports) }
        )
        let match = try await other.verify(Self.templates, camera: .replay, Interruption()) {
            reports.add($0)
        }
        #expect(match.id == "mine")
    }

    @Test(
        "A match returns its face only if it is good enough for an enrolment",
        arguments: [
            ([1, 1], true), ([4, 4], false), ([5, 6], false), ([7, 7], true),
        ] as [([UInt8], Bool)]
    )
    func goodMatch(_ frames: [UInt8], _ isGood: Bool) async throws {
        // Neither a match nor an enrolment asks for open eyes.
        let match = try await scanner(frames, asksForAttention: false)
            .verify(Self.templates, camera: .replay, Interruption()) { _ in }
        #expect(match.id == "mine")
        #expect(match.face == (isGood ? Seen.me.numbers : nil))
    }

    @Test("A face compared for less than three seconds is no miss")
    func passing() async throws {
        let frames = [UInt8](repeating: 2, count: 30) + [1, 1]
        let reports = Reports()
        let match = try await scanner(frames, pace: .milliseconds(10))
            .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
        #expect(match.id == "mine")
        #expect(reports.all == [.ready])
    }

    @Test("A person who leaves and returns repeatedly causes a miss, a passer-by does not")
    func passingAgain() async throws {
        // The clock advances three times for each frame with a face: about a second with the other
        // person before the scene is empty.
        let passing = [UInt8](repeating: 2, count: 9) + [UInt8](repeating: 0, count: 12)
        for (times, isMiss) in [(1, false), (3, false), (4, true)] {
            let frames = [[UInt8]](repeating: passing, count: times).flatMap(\.self)
            let reports = Reports()
            let match = try await scanner(frames + [1, 1], pace: .milliseconds(40))
                .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
            #expect(match.id == "mine")
            #expect(reports.all.contains(.miss) == isMiss, "\(times) times")
        }
    }

    @Test("The three seconds count only faces that could match")
    func goodSeconds() async throws {
        let (nine, asleep) = ([UInt8](repeating: 2, count: 9), [UInt8](repeating: 3, count: 40))
        let empty = [UInt8](repeating: 0, count: 12)
        // The clock advances three times for each frame with a face, so 40 frames exceed three
        // seconds.
        for frames in [nine + empty + asleep + [2], [2] + asleep + nine + [2]] {
            let reports = Reports()
            let match = try await scanner(frames + [1, 1], pace: .milliseconds(30))
                .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
            #expect(match.id == "mine")
            #expect(!reports.all.contains(.miss))
        }
        let reports = Reports()
        let stranger = [UInt8](repeating: 2, count: 60)
        _ = try await scanner(asleep + stranger + [1, 1], pace: .milliseconds(30))
            .verify(Self.templates, camera: .replay, Interruption()) { reports.add($0) }
        #expect(reports.all.contains(.miss))
    }

    @Test("After ten seconds without a face, two frames a second are examined")
    func emptyRoom() async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        let empty = [UInt8](repeating: 0, count: 4)
        let match = try await scanner(empty + [1, 1], pace: .seconds(6))
            .verify(Self.templates, camera: .replay, Interruption()) { _ in }
        #expect(match.id == "mine")
        #expect(clock.now - begin > .milliseconds(900))
    }

    @Test("Frames buffered during a pause are skipped")
    func staleFrames() async throws {
        let looked = Mutex<[UInt8]>([])
        let begin = ContinuousClock.now
        let looks = Mutex(0)
        let scanner = try Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in
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

    @Test("Enroll reports five stages and returns five faces")
    func enroll() async throws {
        let reports = Reports()
        let faces = try await scanner([0, 10, 20, 30, 40, 50])
            .enroll(camera: .replay, Interruption()) { reports.add($0) }
        #expect(faces.count == 5)
        #expect(reports.all == [.ready] + (1...5).map { .stage($0) })
    }

    @Test("L25: the scanner waits for a busy camera and then scans")
    func busy() async throws {
        let reports = Reports()
        let tries = Mutex(0)
        let scanner = try Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in { Self.eye($0) } },
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
        // A pause of at most half a second follows each refusal, so the scanner soon gets a free
        // camera.
        #expect(reports.all == [Scanner.Report](repeating: .busy, count: 12) + [.ready])
        #expect(tries.withLock { $0 } == 13)
        #expect(Scanner.busyPause <= 500)
    }

    @Test("L25: an interruption ends the wait for a busy camera")
    func busyAndCanceled() async throws {
        let scanner = try Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in { Self.eye($0) } },
            camera: { (_, _) throws(CameraFault) in throw .busy }
        )
        let interruption = try Interruption()
        await #expect(throws: FaceFault.camera(.interrupted)) {
            try await scanner.verify(Self.templates, camera: .replay, interruption) { report in
                if report == .busy { interruption.raise() }
            }
        }
    }

    @Test("An interruption ends the operation, even if it was raised before")
    func interruption() async throws {
        let scanner = try scanner([0, 2], isEndless: true)
        let interruption = try Interruption()
        await #expect(throws: FaceFault.camera(.interrupted)) {
            try await scanner.verify(Self.templates, camera: .replay, interruption) { report in
                if report == .miss { interruption.raise() }
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

    @Test("A match found after the interruption does not count")
    func lateMatch() async throws {
        let interruption = try Interruption()
        let scanner = try Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in
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

    @Test("A disconnected or broken camera ends the operation")
    func cameraFaults() async throws {
        await #expect(throws: FaceFault.camera(.disconnected)) {
            try await scanner([0]).verify(Self.templates, camera: .replay, Interruption()) { _ in }
        }
        await #expect(throws: FaceFault.self) {
            try await scanner([9], isEndless: true)
                .verify(Self.templates, camera: .replay, Interruption()) { _ in }
        }
    }

    @Test("The engine is made once, and after a failure the next operation tries again")
    func engine() async throws {
        let tries = Mutex(0)
        let scanner = try Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in
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

    @Test("Verify and Enroll open only the expected camera")
    func expected() async throws {
        let asked = Mutex<[CameraIdentity]>([])
        let scanner = try Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in { Self.eye($0) } },
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
