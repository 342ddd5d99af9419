package import CameraDevice
package import Contract
import Linux

/// Opens the camera and decides about its frames, on a dedicated thread.
///
/// Scores and pictures never leave the scanner. It reports only hints, stages, misses and ids.
package actor Scanner {
    package enum Report: Hashable, Sendable {
        case ready
        /// Another program uses the camera; the scanner waits for it.
        case busy
        case hint(SensorHint)
        case miss
        case stage(UInt32)
    }

    package struct Match: Hashable, Sendable {
        package let id: String
        /// The face, if the frame is good enough for an enrolment.
        package let face: FaceDescriptor?
    }

    /// Finds faces in the next frame of a camera; nil if the frame isn't a picture.
    package typealias FrameAnalyzer = @Sendable (Frame) -> FrameFindings?
    /// Opens the camera and checks that it is the expected camera.
    package typealias Opener =
        (_ expected: CameraIdentity, Interruption) throws(CameraFault) -> any FrameSource

    /// Broken frames in a row that end an operation.
    private static let maximumBroken = 30
    /// Milliseconds between two tries to open a busy camera.
    static let busyPause: Int32 = 250
    /// The time for which a face is compared before the attempt fails.
    static let attempt = Duration.seconds(3)
    /// The time without a face after which the scanner looks at fewer frames.
    static let idleAfter = Duration.seconds(10)
    /// Milliseconds between two frames when no face is in sight.
    private static let idlePause: Int32 = 450

    private let thread: SerialThread
    private let loader: AnalyzerLoader
    private let openCamera: Opener
    private let threshold: FaceThreshold
    nonisolated let requiresLiveness: Bool
    nonisolated let asksForAttention: Bool
    private let now: @Sendable () -> ContinuousClock.Instant

    /// The thread on which the camera and the engine may block.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Makes a scanner without engine and camera.
    ///
    /// - Parameters:
    ///   - threshold: The threshold of a match.
    ///   - requiresLiveness: Whether a match needs the emitter's light and a turn of the head.
    ///   - asksForAttention: Whether a match needs open eyes.
    ///   - makeAnalyzer: Makes the engine, on a thread of its own.
    ///   - camera: Opens the camera, on the scanner's thread.
    ///   - now: The time.
    /// - Throws: ``FaceFault/failed(_:)`` if the kernel refuses a thread.
    package init(
        threshold: FaceThreshold,
        requiresLiveness: Bool,
        asksForAttention: Bool = false,
        makeAnalyzer: sending @escaping () throws(FaceFault) -> FrameAnalyzer,
        camera: sending @escaping Opener,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) throws(FaceFault) {
        self.now = now
        thread = try translating { () throws(SystemError) in try SerialThread(named: "camera") }
        self.threshold = threshold
        self.requiresLiveness = requiresLiveness
        self.asksForAttention = asksForAttention
        loader = try AnalyzerLoader(makeAnalyzer)
        openCamera = camera
    }

    package nonisolated func warmUp() async throws(FaceFault) { _ = try await loader.analyzer() }

    /// Scans until a template matches.
    ///
    /// `isWaiting` returns true while the daemon has not counted the last miss. Frames are skipped
    /// meanwhile.
    ///
    /// - Throws: ``FaceFault``; ``CameraFault/interrupted`` in it if the interruption was raised.
    package func verify(
        _ templates: [FaceTemplate],
        camera: CameraIdentity,
        _ interruption: Interruption,
        isWaiting: @Sendable () -> Bool = { false },
        report: @Sendable (Report) -> Void
    ) async throws(FaceFault) -> Match {
        var random = SystemRandomNumberGenerator()
        var recognition = Recognition(
            templates: templates,
            threshold: threshold,
            asksForAttention: asksForAttention,
            livenessCheck: requiresLiveness ? LivenessCheck(using: &random) : nil
        )
        var attempt = FaceAttempt()
        var advice = Advice()
        return try await scan(camera, interruption, isWaiting, report) { sight in
            let isGood = advice.fault(of: sight) == nil && !sight.isDark
            let outcome = recognition.see(sight)
            attempt.see(sight, wasCompared: recognition.hasCompared, at: now())
            switch outcome {
            case .nothing: break
            case .hint(let hint): report(.hint(hint))
            case .miss:
                // Report no miss before the face was compared for long enough.
                guard attempt.hasFailed() else { break }
                report(.miss)
            case .match(let id): return Match(id: id, face: isGood ? sight.numbers : nil)
            }
            return nil
        }
    }

    /// Scans until an enrolment is complete, and returns its faces.
    ///
    /// - Throws: ``FaceFault``; ``CameraFault/interrupted`` in it if the interruption was raised.
    package func enroll(
        camera: CameraIdentity,
        _ interruption: Interruption,
        report: @Sendable (Report) -> Void
    ) async throws(FaceFault) -> [FaceDescriptor] {
        var enrolment = Enrolment(threshold: threshold)
        return try await scan(camera, interruption, Self.never, report) { sight in
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

    /// An enrolment has no misses to wait for.
    private static func never() -> Bool { false }

    /// Opens the camera, and waits while another program uses it (L25).
    ///
    /// The kernel does not report when a camera becomes free, so the scanner polls.
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

    /// Runs every operation: all frames take this path.
    private func scan<Value>(
        _ expected: CameraIdentity,
        _ interruption: Interruption,
        _ isWaiting: () -> Bool,
        _ report: (Report) -> Void,
        _ judge: (FrameFindings) -> Value?
    ) async throws(FaceFault) -> Value {
        // The models load while the camera opens.
        let loading = Task.immediate { [loader] () async -> Result<FrameAnalyzer, FaceFault> in
            do throws(FaceFault) {
                return .success(try await loader.analyzer())
            } catch {
                return .failure(error)
            }
        }
        let camera: any FrameSource
        do throws(CameraFault) {
            if interruption.isRaised { throw .interrupted }
            camera = try takeCamera(expected, interruption, report)
        } catch {
            throw .camera(error)
        }
        let analyze = try await loading.value.get()
        do throws(CameraFault) {
            if interruption.isRaised { throw .interrupted }
            report(.ready)
            var broken = 0
            var lastFace = now()
            while true {
                let frame = try camera.nextFrame(interruption)
                if isWaiting() { continue }
                guard let sight = analyze(frame) else {
                    broken += 1
                    guard broken < Self.maximumBroken else {
                        throw .failed("The camera gives only broken pictures.")
                    }
                    continue
                }
                broken = 0
                // If the interruption was raised while the engine ran, discard its result.
                if interruption.isRaised { throw .interrupted }
                if let value = judge(sight) { return value }
                if sight.count > 0 { lastFace = now() }
                // Skip no frame of an infrared camera: lit and dark frames alternate.
                guard !requiresLiveness, now() - lastFace > Self.idleAfter else { continue }
                if interruption.isRaised(within: Self.idlePause) { throw .interrupted }
                // Drop a frame: the camera's buffers hold frames from the beginning of the pause.
                _ = try camera.nextFrame(interruption)
            }
        } catch {
            throw .camera(error)
        }
    }
}

/// Makes the engine on a thread of its own.
private actor AnalyzerLoader {
    private let thread: SerialThread
    private let make: () throws(FaceFault) -> Scanner.FrameAnalyzer
    private var made: Scanner.FrameAnalyzer?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ make: sending @escaping () throws(FaceFault) -> Scanner.FrameAnalyzer) throws(FaceFault)
    {
        thread = try translating { () throws(SystemError) in try SerialThread(named: "models") }
        self.make = make
    }

    func analyzer() throws(FaceFault) -> Scanner.FrameAnalyzer {
        if let made { return made }
        let new = try make()
        made = new
        return new
    }
}
