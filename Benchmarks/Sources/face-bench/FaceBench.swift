import BenchSupport
import CameraDevice
import FaceSensor
import Foundation
import Synchronization
import TestSupport

/// Measures on clips; times are milliseconds of wall clock.
struct FaceBench {
    let folder: String
    var rounds = 30

    private var models: FaceModels { FaceModels(folder: folder + "/models") }
    private var state: String { folder + "/bench-state" }

    func run(programs: String, yardstick: String?) async throws {
        // The folder has all files of an earlier run. A cold start is not a first start.
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let engine = try FaceEngine(models: models, state: state)
        let frames = try frames(of: "match")
        let template = FaceTemplate(id: "me", faces: try enrolled(engine))
        Report.say("\(Report.machine()); one core for the engine, \(rounds) rounds, medians")
        Report.say("The clips are files: 30 frames a second, the first at once; no camera.\n")
        Report.row("", "measured", "promise")
        Report.say("|---|---|---|")

        let times = try frameTimes(engine, template, frames)
        row("frame to decision, 640x480: median / p95", times.wall, atMost: 100)
        row("the same, processor time: median / p95", times.processor, atMost: 100)
        try await evaluateRows(programs)
        let warm = try await warmTimes(template)
        row("warm, engine and clip in one process, no bus: median / p95", pair(warm.all))
        row("of that, waiting for the clip's second frame: median / p95", pair(warm.waiting))
        let cold = try (0..<rounds).map { _ in try coldTime() }
        row("cold, a new such process: started to decided, median / p95", pair(cold.map(\.time)))
        row("memory of that process (PSS) when decided", "\(cold.map(\.memory).max() ?? 0) kB")
        if let yardstick { try compare(yardstick) }
    }

    // MARK: Time

    private func frameTimes(
        _ engine: FaceEngine,
        _ template: FaceTemplate,
        _ frames: [Frame]
    ) throws -> (wall: [Double], processor: [Double]) {
        var (wall, processor): ([Double], [Double]) = ([], [])
        for _ in 0..<3 {
            var recognition = Recognition(templates: [template], threshold: .ordinary)
            for frame in frames {
                let (start, used) = (ContinuousClock.now, processorTime())
                guard let sight = engine.follow(frame) else { throw BenchmarkError("no picture") }
                _ = recognition.see(sight)
                guard sight.numbers != nil else { continue }
                wall.append(milliseconds(since: start))
                processor.append(processorTime() - used)
            }
        }
        return (wall, processor)
    }

    /// Measures from the call of Evaluate to its answer.
    private func evaluateRows(_ programs: String) async throws {
        let bench = try await EvaluateBench(folder: folder, programs: programs)
        let times: (warm: [Double], cold: [Double])
        let memory: Int
        do {
            times = try await bench.measure(rounds, of: try clipOfMatches())
            memory = try await bench.memory(after: 200, of: try clipOfMatches())
        } catch {
            Report.complain(await bench.log)
            await bench.end()
            throw error
        }
        await bench.end()
        row("Evaluate to its answer, warm: median / p95", times.warm, atMost: 100)
        row(
            "Evaluate to its answer, cold (the bus starts the sensor, which reads its models): "
                + "median / p95",
            times.cold,
            atMost: 260
        )
        Report.row(
            "the sensor's memory (PSS) after 200 looks",
            "\(memory) kB",
            memory <= 40_000 ? "≤ 40000 kB" : "≤ 40000 kB MISSED"
        )
    }

    /// Measures opening the replay and two matching frames, at 30 frames a second.
    private func warmTimes(
        _ template: FaceTemplate
    ) async throws -> (all: [Double], waiting: [Double]) {
        let waits = Waits()
        let scanner = try scanner(waits)
        try await scanner.warmUp()
        var (all, waiting): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            waits.forget()
            let start = ContinuousClock.now
            _ = try await scanner.verify([template], camera: .replay, Interruption()) { _ in }
            all.append(milliseconds(since: start))
            waiting.append(waits.sum / .milliseconds(1))
        }
        return (all, waiting)
    }

    private func scanner(_ waits: Waits = Waits()) throws -> FaceSensor.Scanner {
        let (models, state, clip) = (models, state, try clipOfMatches())
        return try FaceSensor.Scanner(
            threshold: .ordinary,
            requiresLiveness: false,
            makeAnalyzer: { () throws(FaceFault) in
                let engine = try FaceEngine(models: models, state: state)
                return { engine.follow($0) }
            },
            camera: { (_, _) throws(CameraFault) in
                TimedSource(try ReplaySource(path: clip), waits)
            }
        )
    }

    /// Measures a new process that loads the models, opens the camera, looks and decides.
    private func coldTime() throws -> (time: Double, memory: Int) {
        let start = ContinuousClock.now
        let said = try Self.output(of: [CommandLine.arguments[0], folder, "cold"])
        let time = milliseconds(since: start)
        guard let memory = Int(said.split(separator: "\n").last ?? "") else {
            throw BenchmarkError("the cold process said: \(said)")
        }
        return (time, memory)
    }

    func coldChild() async throws {
        // Templates are read from the disk, as the sensor does.
        let numbers = try String(contentsOfFile: state + "/enrolled", encoding: .utf8)
        let faces = numbers.split(separator: "\n")
            .compactMap { line in
                FaceDescriptor(line.split(separator: " ").compactMap { Float($0) })
            }
        _ = try await scanner()
            .verify([FaceTemplate(id: "me", faces: faces)], camera: .replay, Interruption()) { _ in
            }
        let rollup = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        let line = rollup.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        let fields: [Substring] = line?.split(separator: " ") ?? []
        print(fields.count > 1 ? String(fields[1]) : "?")
    }

    private func compare(_ yardstick: String) throws {
        let said = try Self.output(of: [
            yardstick, folder + "/models", folder + "/clips/photographs/a1.jpg",
            try clipOfMatches(),
        ])
        let parts = said.split(whereSeparator: \.isWhitespace)
        guard parts.count == 4 else { throw BenchmarkError("the yardstick said: \(said)") }
        row("C++ with Howdy's dlib calls: frame, median / p95", "\(parts[1]) / \(parts[2]) ms")
        let match = parts[3] == "-1" ? "never below 0.35" : "\(parts[3]) ms"
        row("the same, cold: loading / to a match", "\(parts[0]) ms / \(match)")
    }

    // MARK: Clips

    private func frames(of clip: String) throws -> [Frame] {
        let source = try ReplaySource(path: "\(folder)/clips/\(clip).mjpeg")
        let count = clip == "match" ? 39 : 44
        let interruption = try Interruption()
        return try (0..<count).map { _ in try source.nextFrame(interruption) }
    }

    /// Leaves out frames without the person, because they do not count as the sensor's time.
    private func clipOfMatches() throws -> String {
        let path = state + "/match.mjpeg"
        if !FileManager.default.fileExists(atPath: path) {
            let bytes = try frames(of: "match").dropFirst(3).flatMap(\.bytes)
            try Data(bytes).write(to: URL(filePath: path))
        }
        return path
    }

    private func enrolled(_ engine: FaceEngine) throws -> [FaceDescriptor] {
        var enrolment = Enrolment(threshold: .ordinary)
        for frame in try frames(of: "enroll") {
            guard let sight = engine.look(frame) else { continue }
            if case .done(let faces) = enrolment.see(sight) {
                let lines = faces.map { $0.values.map { "\($0)" }.joined(separator: " ") }
                try Data(lines.joined(separator: "\n").utf8)
                    .write(to: URL(filePath: state + "/enrolled"))
                return faces
            }
        }
        throw BenchmarkError("the clip enrolls nobody")
    }

    // MARK: Printing

    private static func output(of words: [String]) throws -> String {
        let ended = try ChildProcess.run(words, within: .seconds(600))
        guard ended.status == 0 else { throw BenchmarkError("\(words[0]) failed") }
        return ended.output
    }

    private func row(_ what: String, _ value: String) { Report.row(what, value, "") }

    /// A promise holds if 95 % of the times keep it.
    private func row(_ what: String, _ times: [Double], atMost bound: Double) {
        let isKept = Report.percentile(times, 0.95) <= bound
        Report.row(
            what,
            pair(times),
            String(format: "p95 ≤ %.0f ms", bound) + (isKept ? "" : " **missed**")
        )
    }

    private func pair(_ times: [Double]) -> String { Report.pair(times) }

    /// Processor time of this thread in milliseconds, which does not depend on the machine's load.
    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private func milliseconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .milliseconds(1)
    }
}

/// The time that an operation waited for frames.
private final class Waits: Sendable {
    private let time = Mutex(Duration.zero)

    var sum: Duration { time.withLock { $0 } }

    func add(_ more: Duration) { time.withLock { $0 += more } }
    func forget() { time.withLock { $0 = .zero } }
}

/// Measures how long frames take to arrive.
private final class TimedSource: FrameSource {
    private let source: ReplaySource
    private let waits: Waits

    init(_ source: ReplaySource, _ waits: Waits) {
        self.source = source
        self.waits = waits
    }

    var format: PixelFormat { source.format }

    func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame {
        let start = ContinuousClock.now
        defer { waits.add(ContinuousClock.now - start) }
        return try source.nextFrame(interruption)
    }
}
