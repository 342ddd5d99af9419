import DBus
import FaceSensor
import Glibc
import Linux
import LocalAuthBus
import SensorContract
import TestSupport
import Testing

@testable import CameraDevice

enum Studio {
    /// `make face-studio` fills this folder.
    static let folder = environment("LOCALAUTH_FACE_FOLDER") ?? "\(project)/.build/face"
    static let models = FaceModels(folder: folder + "/models")
    static let clips = folder + "/clips"
    static let isCI = environment("CI") == "true"

    /// True if tests that need models and clips can run.
    ///
    /// In CI they must run.
    static var isReady: Bool { missing.isEmpty || isCI }

    static let missing: [String] = [
        FaceEngine.isBuilt ? nil : "the package trait Face is off",
        models.areThere ? nil : "no models in \(models.folder)",
        access(clips + "/SHA256SUMS", R_OK) == 0 ? nil : "no clips in \(clips)",
    ]
    .compactMap(\.self)

    static let reason: Comment =
        "\(missing.joined(separator: ", ")): make face-studio gets both"

    static func frames(_ clip: String) throws -> [Frame] {
        var splitter = JPEGSplitter()
        splitter.append(try TemporaryFolder.read("\(clips)/\(clip).mjpeg"))
        var frames: [Frame] = []
        while let picture = splitter.next() { frames.append(Frame(jpeg: picture)) }
        return frames
    }

    /// The first face of the cohort, from its source.
    static func faceOfCohort() throws -> [Float] {
        let path = "\(project)/Sources/Devices/CFace/cohort.inc"
        let line = try TemporaryFolder.read(path).prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self).split { !"-0123456789".contains($0) }
            .compactMap { Float($0) }
            .map { $0 / 256 }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static let project = #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" }
}

/// Runs a sensor process with frames from a named pipe.
enum Stage {
    static func fixture(_ folder: TemporaryFolder) throws -> SensorFixture {
        let path = folder.path + "/camera"
        let film = try Film(pipe: path)
        return SensorFixture(
            program: program(folder, replay: path),
            name: "Face",
            patience: .seconds(60),
            promptness: .seconds(20),
            present: { matching, _ in film.show(matching) }
        )
    }

    /// A cached detector: building it takes most of the time of a start.
    private static let detector: [UInt8]? = {
        guard let state = try? TemporaryFolder() else { return nil }
        chmod(state.path, 0o700)
        _ = try? FaceEngine(models: Studio.models, state: state.path)
        return try? state.read("detector.cache")
    }()

    /// The sensor's command, with its own state directory and a replay.
    static func program(_ folder: TemporaryFolder, replay: String) -> [String] {
        program(folder, ["--replay", replay])
    }

    /// The sensor's command, with its own state directory and a camera.
    static func program(_ folder: TemporaryFolder, camera: String) -> [String] {
        program(folder, ["--camera", camera])
    }

    private static func program(_ folder: TemporaryFolder, _ source: [String]) -> [String] {
        if let detector, mkdir(folder.path + "/state", 0o700) == 0 {
            try? folder.write("state/detector.cache", detector, mode: 0o600)
        }
        return [
            "localauth-sensor-face", "--models", Studio.models.folder,
            "--state-directory", folder.path + "/state",
        ] + source
    }
}

/// The frames of the enrolled person and of another person.
@BusActor private final class Film {
    private let mine: [Frame]
    private let others: [Frame]
    private let pipe: OwnedDescriptor
    private var next = 0

    nonisolated init(pipe path: String) throws {
        try #require(mkfifo(path, 0o600) == 0)
        pipe = OwnedDescriptor(adopting: open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC))
        // F_SETPIPE_SZ, which Swift cannot import: makes room for whole frames.
        try #require(fcntl(pipe.rawValue, 1031, 1 << 20) >= 1 << 20)
        // Skip the frames at the beginning, which show no person.
        mine = Array(try Studio.frames("enroll").dropFirst(4))
        others = Array(try Studio.frames("other").dropFirst(3))
    }

    /// Writes two frames in a row unless the sensor has enough unread frames.
    func show(_ matching: Bool) {
        let frames = matching ? mine : others
        for _ in 0..<2 {
            let bytes = frames[next % frames.count].bytes
            var waiting: Int32 = 0
            // Write whole frames only: a write beyond the capacity would truncate a frame.
            guard ioctl(pipe.rawValue, UInt(FIONREAD), &waiting) == 0, waiting < Self.enough,
                write(pipe.rawValue, bytes, bytes.count) == bytes.count
            else { return }
            next += 1
        }
    }

    private static let enough = 100_000
}
