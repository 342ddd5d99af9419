import CameraDevice
import Glibc
import Linux
import TestSupport
import Testing

@testable import FaceSensor

/// Tests the C++ unit without models.
@Suite struct FaceUnitTests {
    @Test("The C++ unit is optimised even in a debug build")
    func optimised() { #expect(FaceEngine.isOptimised) }

    @Test("CI has the models, the clips and a built engine")
    func complete() {
        guard Studio.isCI else { return }
        #expect(Studio.missing.isEmpty)
    }

    @Test("Bytes that are no models are refused")
    func noModels() {
        let fault = #expect(throws: FaceFault.self) {
            try FaceEngine(
                models: FaceModels.Content(
                    landmarks: [1, 2],
                    network: OwnedDescriptor(adopting: open("/dev/null", O_RDONLY | O_CLOEXEC))
                )
            )
        }
        let remedy = FaceEngine.isBuilt ? "models are damaged" : "trait Face"
        #expect("\(String(describing: fault))".contains(remedy))
    }
}

/// Tests the engine with the real models on the clips.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Studio.isReady, Studio.reason))
struct FaceEngineTests {
    private let content: FaceModels.Content
    private let engine: FaceEngine

    init() throws {
        content = try Studio.models.load()
        engine = try FaceEngine(models: Studio.models, state: Studio.models.folder)
    }

    /// The faces in a clip's first frames with a face.
    private func faces(_ clip: String, _ count: Int) throws -> [FaceDescriptor] {
        try Studio.frames(clip).lazy.compactMap { engine.look($0)?.numbers }.prefix(count)
            .map(\.self)
    }

    @Test("Photographs of one person are close, those of two people are far apart")
    func distances() throws {
        let mine = try faces("enroll", 8)
        let again = try #require(try faces("match", 1).first)
        let other = try #require(try faces("other", 1).first)
        let nearest = try #require(mine.map { $0.distance(to: again) }.min())
        let furthest = try #require(mine.map { $0.distance(to: other) }.min())
        #expect(nearest < 0.45, "\(nearest)")
        #expect(furthest > 0.6, "\(furthest)")
    }

    @Test("A face's numbers equal the numbers of dlib's own code")
    func reference() throws {
        let picture = Frame(
            format: .yuyv,
            width: 640,
            height: 480,
            stride: 1280,
            bytes: try TemporaryFolder.read("\(Studio.clips)/frame.yuyv")
        )
        let numbers = try #require(engine.look(picture)?.numbers)
        // Every eighth number, as dlib 19.24 computed it with its class for this network.
        let reference: [Float] = [
            -0.06037, 0.22254, -0.21316, -0.13959, -0.18591, -0.09745, 0.11286, 0.00229,
            0.22196, -0.15625, -0.17269, 0.08480, -0.17040, -0.21200, 0.10365, -0.02842,
        ]
        for (index, expected) in reference.enumerated() {
            let number = numbers.values[index * 8]
            #expect(abs(number - expected) < 0.001, "number \(index * 8): \(number)")
        }
    }

    @Test(
        "A face is found near its place in the frame before, with nearly equal numbers",
        arguments: ["enroll", "match", "far"]
    )
    func follows(clip: String) throws {
        for frame in try Studio.frames(clip).dropFirst(4).prefix(12) {
            let all = try #require(engine.look(frame)?.numbers)
            _ = engine.follow(frame)
            let near = try #require(engine.follow(frame)?.numbers)
            #expect(all.distance(to: near) < 0.15)
        }
    }

    @Test("A face at another place than in the frame before is found")
    func jumps() throws {
        let (far, aside) = (try Studio.frames("far"), try Studio.frames("aside"))
        for (one, other) in zip(far.prefix(6), aside.prefix(6)) {
            #expect(engine.follow(one)?.count == 1)
            let (found, all) = (engine.follow(other), engine.look(other))
            #expect(found?.face == all?.face && found?.face != nil)
        }
    }

    @Test("A second, smaller face does not hide the first, an equally large face does")
    func smallerFace() throws {
        let two = try #require(try Studio.frames("two").lazy.compactMap { engine.look($0) }.first)
        #expect(two.count == 2 && two.hasRival && two.numbers == nil)
        for frame in try Studio.frames("portrait") {
            let seen = try #require(engine.look(frame))
            #expect(seen.count == 2 && !seen.hasRival && seen.numbers != nil)
        }
    }

    @Test("A face is found in front of a bright window and in a dark room")
    func backlight() throws {
        for clip in ["window", "night"] {
            for frame in try Studio.frames(clip) {
                let seen = try #require(engine.look(frame), "\(clip)")
                #expect(seen.numbers != nil && !seen.isDark, "\(clip)")
            }
        }
    }

    @Test("Stray bytes before a marker of a JPEG picture do no harm")
    func strayBytes() throws {
        for frame in try Studio.frames("match").dropFirst(4).prefix(3) {
            let whole = try #require(engine.look(frame))
            let bytes = frame.bytes.dropLast(2) + [0x5A, 0x00, 0x17] + frame.bytes.suffix(2)
            #expect(engine.look(Frame(jpeg: Array(bytes))) == whole)
        }
    }

    @Test("A network file truncated during use gives no face and no crash")
    func shortNetwork() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/\(FaceModels.network.name)"
        for file in FaceModels.files {
            try folder.write(
                file.name,
                try TemporaryFolder.read("\(Studio.models.folder)/\(file.name)")
            )
        }
        let other = try FaceEngine(models: FaceModels(folder: folder.path).load())
        let frame = try #require(try Studio.frames("match").dropFirst(6).first)
        #expect(other.look(frame)?.numbers != nil)
        #expect(truncate(path, 1_000_000) == 0)
        let sight = try #require(other.look(frame))
        #expect(sight.count == 1 && sight.numbers == nil)
    }

    @Test("A model with a changed byte is refused", arguments: 0...1)
    func changedModel(which: Int) throws {
        let folder = try TemporaryFolder()
        for (index, file) in FaceModels.files.enumerated() {
            var content = try TemporaryFolder.read("\(Studio.models.folder)/\(file.name)")
            if index == which { content[content.count / 2] ^= 1 }
            try folder.write(file.name, content)
        }
        let fault = #expect(throws: FaceFault.self) { try FaceModels(folder: folder.path).load() }
        let name = FaceModels.files[which].name
        #expect("\(String(describing: fault))".contains("\(name) differs from the expected model"))
    }

    @Test("Truncated landmarks are refused, and changed landmarks never crash", arguments: 1...6)
    func damagedLandmarks(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        func engine(_ landmarks: [UInt8]) throws(FaceFault) -> FaceEngine {
            let changed = FaceModels.Content(landmarks: landmarks, network: content.network)
            return try FaceEngine(models: changed, detector: detector)
        }
        let (detector, good) = (self.engine.detector, content.landmarks)
        let short = Array(good.prefix(Int.random(in: 0..<good.count, using: &random)))
        #expect(throws: FaceFault.self) { try engine(short) }
        var changed = good
        // Change the beginning separately: it holds the sizes, which a random place rarely hits.
        for range in [0..<64, 64..<good.count] {
            let bit = UInt8.random(in: 0..<8, using: &random)
            changed[Int.random(in: range, using: &random)] ^= 1 << bit
        }
        let frame = try #require(try Studio.frames("match").dropFirst(6).first)
        _ = try? engine(changed).look(frame)
    }

    @Test("A cached detector is used, and a damaged detector is built anew")
    func detector() throws {
        let detector = engine.detector
        #expect(detector.count > 100_000)
        #expect(try FaceEngine(models: content, detector: detector).usedDetector)
        let short = Array(detector.prefix(1000))
        let other = try FaceEngine(models: content, detector: short)
        #expect(!other.usedDetector)
        #expect(other.detector == detector)
    }

    @Test("A cached detector with a changed byte is not read, and is built anew")
    func keptDetector() throws {
        let state = try TemporaryFolder()
        chmod(state.path, 0o700)
        func make() throws -> Bool {
            try FaceEngine(models: Studio.models, state: state.path).usedDetector
        }
        #expect(try !make())
        #expect(try make())
        let good = try state.read("detector.cache")
        for index in [0, 40, good.count / 2, good.count - 1] {
            var changed = good
            changed[index] ^= 1
            try state.write("detector.cache", changed, mode: 0o600)
            #expect(try !make(), "byte \(index)")
            #expect(try state.read("detector.cache") == good)
        }
    }

    @Test("JPEG variants that no camera sends are refused, because they could cost minutes")
    func manyScans() throws {
        #expect(engine.look(Frame(jpeg: TinyJPEG.oneScan)) != nil)
        #expect(engine.look(Frame(jpeg: TinyJPEG.threeScans)) == nil)
        #expect(engine.look(Frame(jpeg: TinyJPEG.progressive)) == nil)
        #expect(engine.look(Frame(jpeg: TinyJPEG.arithmetic)) == nil)
        let cut = TinyJPEG.oneScan.dropLast(4) + [0xFF, 0xD9]
        #expect(engine.look(Frame(jpeg: Array(cut))) == nil)
    }

    @Test("A picture in YUYV and in GREY shows one face")
    func formats() throws {
        let mine = try #require(try faces("match", 1).first)
        for (name, format, stride) in [("yuyv", PixelFormat.yuyv, 1280), ("grey", .grey, 640)] {
            let frame = Frame(
                format: format,
                width: 640,
                height: 480,
                stride: stride,
                bytes: try TemporaryFolder.read("\(Studio.clips)/frame.\(name)")
            )
            let seen = try #require(engine.look(frame)?.numbers, "\(name)")
            #expect(seen.distance(to: mine) < 0.45, "\(name)")
        }
    }

    /// Converts a YUYV picture to planar chroma, with unused bytes at the end of each line.
    private func planes(_ yuyv: [UInt8], _ format: PixelFormat, padding: Int) -> Frame {
        let (width, height, stride) = (640, 480, 640 + padding)
        var luma: [UInt8] = []
        var blue: [[UInt8]] = []
        var red: [[UInt8]] = []
        for y in 0..<height {
            let line = yuyv[(y * width * 2)..<((y + 1) * width * 2)]
            let pixels = Array(line)
            luma += Swift.stride(from: 0, to: width * 2, by: 2).map { pixels[$0] }
            luma += [UInt8](repeating: 255, count: padding)
            guard y % 2 == 0 else { continue }
            blue.append(Swift.stride(from: 1, to: width * 2, by: 4).map { pixels[$0] })
            red.append(Swift.stride(from: 3, to: width * 2, by: 4).map { pixels[$0] })
        }
        let halves = [UInt8](repeating: 255, count: padding / 2)
        var bytes = luma
        if format == .nv12 {
            for (one, two) in zip(blue, red) {
                bytes += zip(one, two).flatMap { [$0, $1] } + halves + halves
            }
        } else {
            for line in blue + red { bytes += line + halves }
        }
        return Frame(format: format, width: width, height: height, stride: stride, bytes: bytes)
    }

    @Test("A picture in NV12 and in I420 shows one face, whatever pads its lines")
    func planar() throws {
        let yuyv = try TemporaryFolder.read("\(Studio.clips)/frame.yuyv")
        let packed = Frame(format: .yuyv, width: 640, height: 480, stride: 1280, bytes: yuyv)
        let mine = try #require(engine.look(packed)?.numbers)
        for format in [PixelFormat.nv12, .i420] {
            for padding in [0, 64] {
                let frame = planes(yuyv, format, padding: padding)
                let seen = try #require(engine.look(frame)?.numbers, "\(format)")
                #expect(seen.distance(to: mine) < 0.1, "\(format) \(padding)")
            }
            // A byte too short for the last pixel.
            let whole = planes(yuyv, format, padding: 0)
            let cut = Frame(
                format: format,
                width: 640,
                height: 480,
                stride: 640,
                bytes: whole.bytes.dropLast()
            )
            #expect(engine.look(cut) == nil)
        }
    }

    @Test("A picture in three or four bytes a pixel shows one face")
    func colours() throws {
        let yuyv = try TemporaryFolder.read("\(Studio.clips)/frame.yuyv")
        let packed = Frame(format: .yuyv, width: 640, height: 480, stride: 1280, bytes: yuyv)
        let mine = try #require(engine.look(packed)?.numbers)
        // A face would be found even with swapped colours, so compare its numbers.
        for (format, order, size) in [
            (PixelFormat.rgb, [0, 1, 2], 3), (.bgr, [2, 1, 0], 3), (.rgbx, [0, 1, 2], 4),
            (.bgrx, [2, 1, 0], 4),
        ] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(640 * 480 * size)
            for pixel in 0..<(640 * 480) {
                let pair = pixel / 2 * 4
                let (u, v) = (Int(yuyv[pair + 1]) - 128, Int(yuyv[pair + 3]) - 128)
                let light = Int(yuyv[pixel * 2])
                let colours = [
                    light + 359 * v / 256, light - (88 * u + 183 * v) / 256, light + 454 * u / 256,
                ]
                for place in order { bytes.append(UInt8(max(0, min(255, colours[place])))) }
                if size == 4 { bytes.append(255) }
            }
            let frame = Frame(
                format: format,
                width: 640,
                height: 480,
                stride: 640 * size,
                bytes: bytes
            )
            let seen = try #require(engine.look(frame)?.numbers, "\(format)")
            #expect(seen.distance(to: mine) < 0.1, "\(format)")
            let cut = Frame(
                format: format,
                width: 640,
                height: 480,
                stride: 640 * size,
                bytes: bytes.dropLast()
            )
            #expect(engine.look(cut) == nil)
        }
    }

    @Test("A large raw picture is halved like a large JPEG")
    func large() throws {
        // Alternate black and white: after averaging four pixels, none is dark or glaring.
        for (format, stride, lines) in [
            (PixelFormat.grey, 1280, 720), (.yuyv, 2560, 720), (.nv12, 1280, 1080),
        ] {
            var bytes = [UInt8](repeating: 128, count: stride * lines)
            for place in 0..<(1280 * 720) {
                let (x, y) = (place % 1280, place / 1280)
                bytes[y * stride + x * stride / 1280] = (x + y) % 2 == 0 ? 0 : 255
            }
            let frame = Frame(
                format: format,
                width: 1280,
                height: 720,
                stride: stride,
                bytes: bytes
            )
            let sight = try #require(engine.look(frame), "\(format)")
            #expect(sight.darkness == 0 && sight.glare == 0, "\(format)")
        }
    }

    @Test("Eyes of people who look are open")
    func eyes() throws {
        for clip in ["enroll", "match", "other"] {
            let faces = try Studio.frames(clip).compactMap { engine.look($0)?.face }
            #expect(faces.count > 20)
            let open = faces.count { $0.hasOpenEyes }
            #expect(Double(open) >= 0.98 * Double(faces.count), "\(clip): \(open)")
        }
    }

    @Test("Malformed frames are refused and never crash", arguments: 1...10)
    func malformed(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        let frames = try Studio.frames("match")
        for _ in 0..<20 {
            var bytes = frames[Int.random(in: 0..<3, using: &generator)].bytes
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8(
                    truncatingIfNeeded: generator.next()
                )
            }
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            let isCut = Bool.random(using: &generator)
            _ = engine.look(Frame(jpeg: isCut ? Array(bytes.prefix(cut)) : bytes))
        }
        for format in PixelFormat.allCases where format != .mjpg {
            for (width, height, stride) in [
                (640, 480, 1280), (0, 0, 0), (-1, 5, 5), (1 << 40, 1, 1), (2000, 2000, 4000),
                (640, 480, 1), (640, 480, -1280), (16, 1920, 1 << 20), (640, 481, 1280),
                (641, 480, 1280),
                (640, 480, 1281),
            ] {
                let frame = Frame(
                    format: format,
                    width: width,
                    height: height,
                    stride: stride,
                    bytes: [UInt8](repeating: 7, count: 1000)
                )
                #expect(engine.look(frame) == nil)
            }
        }
    }
}

/// A grey picture of 16x16 pixels in several JPEG variants.
private enum TinyJPEG {
    static let oneScan = picture(0xC0, [scan([1, 2, 3], 63, [0, 0, 0])])
    static let threeScans = picture(
        0xC0,
        (1...3).map { scan([UInt8($0)], 63, [0]) }
    )
    /// The first scan of a progressive picture is a whole but coarse picture.
    static let progressive = picture(0xC2, [scan([1, 2, 3], 0, [0, 0x0F])])
    static let arithmetic = picture(0xC9, [scan([1, 2, 3], 63, [0, 0, 0])])

    /// Every value of a block is the code 0: no difference, and end of block.
    private static func picture(_ frame: UInt8, _ scans: [[UInt8]]) -> [UInt8] {
        let table: [UInt8] = [1] + [UInt8](repeating: 0, count: 16)
        let parts: [[UInt8]] = [
            [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0], [UInt8](repeating: 1, count: 64),
            [0xFF, frame, 0, 17, 8, 0, 16, 0, 16, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0],
            [0xFF, 0xC4, 0, 20, 0x00] + table, [0xFF, 0xC4, 0, 20, 0x10] + table,
        ]
        return Array(parts.joined()) + Array(scans.joined()) + [0xFF, 0xD9]
    }

    private static func scan(_ parts: [UInt8], _ last: UInt8, _ data: [UInt8]) -> [UInt8] {
        [0xFF, 0xDA, 0, UInt8(6 + 2 * parts.count), UInt8(parts.count)]
            + parts.flatMap { [$0, 0] } + [0, last, 0] + data
    }
}
