package import CameraDevice
package import Contract
import Linux

/// Opens the camera, looks at its frames and decides, on a thread of its own.
///
/// Scores and pictures never leave it: it tells a hint, a stage, a failed attempt, or an id.
package actor Scanner {
    /// What is told while it looks.
    package enum Report: Hashable, Sendable {
        /// The camera gives pictures now.
        case ready
        /// Another program has the camera, which is waited for.
        case busy
        /// Something to do better.
        case hint(SensorHint)
        /// A failed attempt.
        case noMatch
        /// So many stages of an enrolment are done.
        case stage(UInt32)
    }

    /// A match of Verify.
    package struct Match: Hashable, Sendable {
        package let id: String
        /// What was seen, where it is good enough for an enrolment.
        package let face: FaceNumbers?
    }

    /// Finds faces in a frame; nil: the frame isn't a picture.
    package typealias Eye = (Frame) -> Sight?
    /// Opens the camera, which then has to be the expected one.
    package typealias Opener =
        (_ expected: CameraIdentity, Interruption) throws(CameraFault) -> any FrameSource

    /// The number of broken frames in a row that ends an operation.
    private static let maximumBroken = 30
    /// How long after it was refused a camera is tried again; milliseconds.
    static let busyPause: Int32 = 250
    /// How long a face is looked at before an attempt has failed.
    static let attempt = Duration.seconds(3)
    /// How long nobody has to be there until fewer pictures are looked at.
    static let idleAfter = Duration.seconds(10)
    /// How long it then waits between two pictures; milliseconds.
    private static let idlePause: Int32 = 450

    private let thread: SerialThread
    private let makeEye: () throws(FaceFault) -> Eye
    private let openCamera: Opener
    private let threshold: FaceThreshold
    nonisolated let asksForLife: Bool
    nonisolated let asksForAttention: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private var eye: Eye?

    /// The thread on which the camera and the engine may block.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Makes a scanner that has neither engine nor camera yet.
    ///
    /// - Parameters:
    ///   - threshold: What is a match.
    ///   - asksForLife: Whether a match takes the emitter's light and a turn of the head.
    ///   - asksForAttention: Whether closed eyes match nothing.
    ///   - eye: Makes the engine, on the scanner's thread.
    ///   - camera: Opens the camera, on the scanner's thread.
    ///   - now: The time.
    /// - Throws: ``FaceFault/failed(_:)`` when the kernel refuses a thread.
    package init(
        threshold: FaceThreshold,
        asksForLife: Bool,
        asksForAttention: Bool = true,
        eye: sending @escaping () throws(FaceFault) -> Eye,
        camera: sending @escaping Opener,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) throws(FaceFault) {
        self.now = now
        thread = try translating { () throws(SystemError) in try SerialThread(named: "camera") }
        self.threshold = threshold
        self.asksForLife = asksForLife
        self.asksForAttention = asksForAttention
        makeEye = eye
        openCamera = camera
    }

    /// Makes the engine, if it isn't there yet.
    package func warmUp() throws(FaceFault) { _ = try theEye() }

    /// Looks until one of the templates matches.
    ///
    /// `isWaiting` says whether a failed attempt is not counted yet: what is shown meanwhile
    /// is not looked at.
    ///
    /// - Throws: ``CameraFault/interrupted`` when it is raised, or what went wrong.
    package func verify(
        _ templates: [FaceTemplate],
        camera: CameraIdentity,
        _ interruption: Interruption,
        isWaiting: @Sendable () -> Bool = { false },
        report: @Sendable (Report) -> Void
    ) throws(FaceFault) -> Match {
        var random = SystemRandomNumberGenerator()
        var recognition = Recognition(
            templates: templates,
            threshold: threshold,
            asksForAttention: asksForAttention,
            lifeCheck: asksForLife ? LifeCheck(using: &random) : nil
        )
        var attempt = FaceAttempt()
        var advice = Advice()
        return try scan(camera, interruption, isWaiting, report) { sight in
            let isGood = advice.fault(of: sight) == nil && sight.face?.isAttentive == true
            let outcome = recognition.see(sight)
            attempt.see(sight, wasCompared: recognition.hasCompared, at: now())
            switch outcome {
            case .nothing: break
            case .hint(let hint): report(.hint(hint))
            case .noMatch:
                // A face gets its time: one that was seen for a moment has not failed.
                guard attempt.hasFailed() else { break }
                report(.noMatch)
            case .match(let id): return Match(id: id, face: isGood ? sight.numbers : nil)
            }
            return nil
        }
    }

    /// Looks until an enrolment has its frames, and answers the faces.
    ///
    /// - Throws: ``CameraFault/interrupted`` when it is raised, or what went wrong.
    package func enroll(
        camera: CameraIdentity,
        _ interruption: Interruption,
        report: @Sendable (Report) -> Void
    ) throws(FaceFault) -> [FaceNumbers] {
        var enrolment = Enrolment(threshold: threshold, asksForAttention: asksForAttention)
        return try scan(camera, interruption, Self.never, report) { sight in
            switch enrolment.see(sight) {
            case .nothing: break
            case .hint(let hint): report(.hint(hint))
            case .stage(let done): report(.stage(done))
            case .done(let faces):
                report(.stage(Enrolment.stages))
                return faces
            }
            return nil
        }
    }

    /// An enrolment waits for nobody.
    private static func never() -> Bool { false }

    private func theEye() throws(FaceFault) -> Eye {
        if let eye { return eye }
        let made = try makeEye()
        eye = made
        return made
    }

    /// Opens the camera; one that another program has is waited for (L25).
    ///
    /// The kernel doesn't say when it is free, so it is tried again and again.
    private func takeCamera(
        _ expected: CameraIdentity,
        _ interruption: Interruption,
        _ report: (Report) -> Void
    ) throws(CameraFault) -> any FrameSource {
        while true {
            do throws(CameraFault) {
                return try openCamera(expected, interruption)
            } catch {
                guard error == .busy else { throw error }
            }
            report(.busy)
            if interruption.isRaised(within: Self.busyPause) { throw .interrupted }
        }
    }

    /// The one path of every frame, whatever it comes from.
    private func scan<Value>(
        _ expected: CameraIdentity,
        _ interruption: Interruption,
        _ isWaiting: () -> Bool,
        _ report: (Report) -> Void,
        _ judge: (Sight) -> Value?
    ) throws(FaceFault) -> Value {
        let eye = try theEye()
        do throws(CameraFault) {
            if interruption.isRaised { throw .interrupted }
            let camera = try takeCamera(expected, interruption, report)
            report(.ready)
            var broken = 0
            var lastFace = now()
            while true {
                let frame = try camera.nextFrame(interruption)
                if isWaiting() { continue }
                guard let sight = eye(frame) else {
                    broken += 1
                    guard broken < Self.maximumBroken else {
                        throw .failed("The camera gives only broken pictures.")
                    }
                    continue
                }
                broken = 0
                // Raised while the engine looked: its result no longer counts.
                if interruption.isRaised { throw .interrupted }
                if let value = judge(sight) { return value }
                if sight.count > 0 { lastFace = now() }
                // An infrared camera's frames are lit and dark in turns: none may be left out.
                guard !asksForLife, now() - lastFace > Self.idleAfter else { continue }
                if interruption.isRaised(within: Self.idlePause) { throw .interrupted }
                // The camera's buffers are full of pictures from the beginning of the pause.
                _ = try camera.nextFrame(interruption)
            }
        } catch {
            throw .camera(error)
        }
    }
}
