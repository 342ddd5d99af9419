import Glibc
import TestSupport
import Testing

@testable import CameraDevice

@Suite struct ReplayTests {
    /// The structure of a JPEG: a thumbnail in a segment, escaped bytes and a restart in the scan.
    private static func picture(_ mark: UInt8) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 8, 0xFF, 0xD8, 0xFF, 0xD9, 1, mark]
            + [0xFF, 0xDA, 0, 4, 1, 2, mark, 0xFF, 0x00, 9, 0xFF, 0xD3, 8, 0xFF, 0xFF, 0xD9]
    }

    @Test(
        "Pictures are split at their ends, wherever the stream is cut",
        arguments: [1, 2, 3, 7, 99]
    )
    func splits(_ piece: Int) {
        var splitter = JPEGSplitter()
        let pictures = (1...4).map { Self.picture(UInt8($0)) }
        let stream = [0, 0xFF] + pictures.joined(separator: [0xFF, 7, 7])
        var seen: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: piece) {
            splitter.append(stream[start..<min(start + piece, stream.count)])
            while let picture = splitter.next() { seen.append(picture) }
        }
        #expect(seen == pictures)
    }

    @Test("A truncated picture does not affect the next")
    func cutOff() {
        var splitter = JPEGSplitter()
        splitter.append(Self.picture(1).dropLast(5))
        splitter.append(Self.picture(2))
        #expect(splitter.next() == Self.picture(2))
        #expect(splitter.next() == nil)
    }

    @Test("Bytes without a picture or an end do not grow without bound")
    func bounded() {
        var splitter = JPEGSplitter()
        splitter.append([0xFF, 0xD8, 0xFF, 0xDA, 0, 2])
        for _ in 0..<40 {
            splitter.append([UInt8](repeating: 5, count: 1 << 18))
            #expect(splitter.next() == nil)
        }
        splitter.append([UInt8](repeating: 6, count: 1000) + Self.picture(3))
        #expect(splitter.next() == Self.picture(3))
    }

    @Test("Random bytes cause no crash", arguments: 1...20)
    func random(_ seed: UInt64) {
        var generator = SeededGenerator(seed)
        var splitter = JPEGSplitter()
        for _ in 0..<200 {
            splitter.append(
                (0..<50)
                    .map { _ in
                        Bool.random(using: &generator)
                            ? 0xFF : UInt8(truncatingIfNeeded: generator.next())
                    }
            )
            while let picture = splitter.next() { #expect(picture.starts(with: [0xFF, 0xD8])) }
        }
    }

    @Test("A file is replayed in a loop")
    func repeats() throws {
        let folder = try TemporaryFolder()
        try folder.write("clip", Self.picture(1) + Self.picture(2))
        let source = try ReplaySource(path: folder.path + "/clip")
        let interruption = try Interruption()
        let marks = try (0..<5).map { _ in try source.nextFrame(interruption).bytes[11] }
        #expect(marks == [1, 2, 1, 2, 1])
        interruption.raise()
        #expect(throws: CameraFault.interrupted) { try source.nextFrame(interruption) }
    }

    @Test("A file without a picture is a fault, and so is a path that is no file")
    func nothing() throws {
        let folder = try TemporaryFolder()
        try folder.write("empty", [])
        try folder.write("text", "hello".utf8)
        for name in ["empty", "text"] {
            let source = try ReplaySource(path: folder.path + "/" + name)
            #expect(throws: CameraFault.self) { try source.nextFrame(Interruption()) }
        }
        #expect(throws: CameraFault.disconnected) {
            try ReplaySource(path: folder.path + "/missing")
        }
        #expect(throws: CameraFault.self) { try ReplaySource(path: folder.path) }
    }

    @Test("A named pipe shows only pictures written after it was opened")
    func pipe() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let writer = open(path, O_RDWR | O_NONBLOCK)
        defer { close(writer) }
        let old = Self.picture(1)
        #expect(write(writer, old, old.count) == old.count)
        let source = try ReplaySource(path: path)
        let fresh = Self.picture(2)
        #expect(write(writer, fresh, fresh.count) == fresh.count)
        let interruption = try Interruption()
        #expect(try source.nextFrame(interruption).bytes == fresh)
        interruption.raise()
        #expect(throws: CameraFault.interrupted) { try source.nextFrame(interruption) }
    }
}
