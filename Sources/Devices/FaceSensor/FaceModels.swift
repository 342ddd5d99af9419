import Crypto
import Glibc
import Linux

/// The two model files of the face engine and their folder.
package struct FaceModels: Hashable, Sendable {
    struct File: Hashable {
        let name: String
        let size: Int
        let digest: String
    }

    package struct Content: Sendable {
        let landmarks: [UInt8]
        /// Kept open: the engine reads the weights at each look.
        let network: OwnedDescriptor
    }

    static let landmarks = File(
        name: "shape_predictor_5_face_landmarks.dat",
        size: 9_150_489,
        digest: "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888"
    )
    static let network = File(
        name: "dlib_face_recognition_resnet_model_v1.dat",
        size: 22_466_066,
        digest: "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30"
    )
    static let files = [landmarks, network]

    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// Tells users how to get missing or damaged models.
    package var remedy: String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let program = String(
            decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        return "Get them, as root, with: \(program) --fetch-models --models \(folder)"
    }

    /// True if both files have the right size; ``load()`` also checks their contents.
    package var areThere: Bool { fault == nil }

    /// The error with which ``load()`` would fail at once; nil if both files have the right size.
    package var fault: FaceFault? {
        for file in Self.files {
            let path = "\(folder)/\(file.name)"
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { return unreadable(path, errno) }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0, Int(status.st_size) == file.size else {
                return damaged(path)
            }
        }
        return nil
    }

    /// A value that changes with the files, which then need a new check.
    package var stamp: [Int] {
        Self.files.flatMap { file in
            var status = stat()
            guard stat("\(folder)/\(file.name)", &status) == 0 else { return [0] }
            let time = status.st_ctim
            return [Int(status.st_ino), Int(status.st_size), Int(time.tv_sec), Int(time.tv_nsec)]
        }
    }

    private func unreadable(_ path: String, _ number: Int32) -> FaceFault {
        switch number {
        case ENOENT: .failed("The face models are missing in \(folder). \(remedy)")
        case EACCES:
            .failed("User \(geteuid()) can't read the face models in \(folder). \(remedy)")
        default: .system(number, "The model can't be read", path)
        }
    }

    private func damaged(_ path: String) -> FaceFault {
        .failed("\(path) differs from the expected model. \(remedy)")
    }

    /// Reads the landmark model, opens the network, and checks both digests.
    ///
    /// The thresholds are valid for these two files only.
    ///
    /// - Throws: ``FaceFault/failed(_:)`` with the remedy.
    package func load() throws(FaceFault) -> Content {
        let landmarks = try open(Self.landmarks).content(limit: Self.landmarks.size)
        guard let landmarks, Self.digest(landmarks) == Self.landmarks.digest else {
            throw damaged("\(folder)/\(Self.landmarks.name)")
        }
        let network = try open(Self.network)
        guard Self.digest(of: network) == Self.network.digest else {
            throw damaged("\(folder)/\(Self.network.name)")
        }
        return Content(landmarks: landmarks, network: network)
    }

    private func open(_ file: File) throws(FaceFault) -> OwnedDescriptor {
        let path = "\(folder)/\(file.name)"
        guard let opened = OwnedDescriptor.open(path, O_RDONLY) else {
            throw unreadable(path, errno)
        }
        return opened
    }

    static func digest(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { TemplateRecord.hexadecimal($0) }.joined()
    }

    /// Returns the digest of a file, read in pieces, or nil if the file cannot be read.
    static func digest(ofFile path: String) -> String? {
        OwnedDescriptor.open(path, O_RDONLY).flatMap { digest(of: $0) }
    }

    private static func digest(of file: OwnedDescriptor) -> String? {
        var hash = SHA256()
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(file.rawValue, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? hash.finalize().hexadecimal : nil }
            bytes.withUnsafeBytes { hash.update(bufferPointer: .init(rebasing: $0.prefix(count))) }
        }
    }
}

extension SHA256.Digest {
    fileprivate var hexadecimal: String {
        map { TemplateRecord.hexadecimal($0) }.joined()
    }
}
