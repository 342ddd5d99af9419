import FaceSensor
import Glibc
import ServiceProgram

/// `--fetch-models`: downloads the models, reports each step on standard output, and exits.
enum FetchModels {
    static func main() -> Never {
        guard let folder else {
            log(.error, "--fetch-models goes with --models DIR and --state-directory DIR alone")
            exit(64)
        }
        guard becomeOwner(of: folder) else {
            let hint = "name a folder that can be looked at, or run it as who owns that"
            log(.error, "the owner of \(folder) can't be taken on: \(hint)")
            exit(EXIT_FAILURE)
        }
        do throws(FaceFault) {
            try ModelFetch(folder: folder) { step in
                print(step)
                // Flush first: the download client is another process that writes to this output.
                fflush(nil)
            }
            .run()
        } catch {
            if case .failed(let sentence) = error { log(.error, sentence) }
            exit(EXIT_FAILURE)
        }
        exit(EXIT_SUCCESS)
    }

    /// Drops root's privileges to the owner of the folder, or of its nearest existing parent.
    ///
    /// The files then belong to that user, who could otherwise make root write elsewhere.
    ///
    /// - Returns: False when the folder can't be examined, or the kernel refuses.
    private static func becomeOwner(of folder: String) -> Bool {
        guard geteuid() == 0 else { return true }
        var path = folder[...]
        var status = stat()
        while stat(String(path), &status) != 0 {
            guard errno == ENOENT, path != "." else { return false }
            guard let slash = path.lastIndex(of: "/") else {
                path = "."
                continue
            }
            path = slash > path.startIndex ? path[..<slash] : "/"
        }
        guard status.st_uid != 0 else { return true }
        return setgroups(0, nil) == 0 && setgid(status.st_gid) == 0 && setuid(status.st_uid) == 0
    }

    /// The models' folder; nil when the command line has other arguments.
    private static var folder: String? {
        var values: [String: String] = [:]
        var rest = CommandLine.arguments.dropFirst()[...]
        while let word = rest.popFirst() {
            if word == "--fetch-models" { continue }
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = parts.first, ["--models", "--state-directory"].contains(name),
                let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty
            else { return nil }
            values[name] = value
        }
        let state = values["--state-directory"] ?? FaceSettings.defaultState
        return values["--models"] ?? FaceSettings.models(in: state)
    }
}
