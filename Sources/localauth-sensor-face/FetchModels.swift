import FaceSensor
import Glibc
import ServiceProgram

/// `--fetch-models`: says each step on standard output, and ends.
enum FetchModels {
    static func main() -> Never {
        guard let folder else {
            log(.error, "--fetch-models goes with --models DIR and --state-directory DIR alone")
            exit(64)
        }
        guard becomeOwner(of: folder) else {
            log(.error, "the owner of \(folder) can't be taken on")
            exit(EXIT_FAILURE)
        }
        do throws(FaceFault) {
            try ModelFetch(folder: folder) { step in
                print(step)
                // Before what the client says, which comes from another process.
                fflush(nil)
            }
            .run()
        } catch {
            if case .failed(let sentence) = error { log(.error, sentence) }
            exit(EXIT_FAILURE)
        }
        exit(EXIT_SUCCESS)
    }

    /// Root becomes whom the folder belongs to, or the one that it is made in.
    ///
    /// What is got is then that user's, who could otherwise have root write elsewhere. False: the
    /// kernel refuses.
    private static func becomeOwner(of folder: String) -> Bool {
        guard geteuid() == 0 else { return true }
        var path = folder[...]
        var status = stat()
        while stat(String(path), &status) != 0 {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex
            else { return true }
            path = path[..<slash]
        }
        guard status.st_uid != 0 else { return true }
        return setgroups(0, nil) == 0 && setgid(status.st_gid) == 0 && setuid(status.st_uid) == 0
    }

    /// Where the models go; nil: there are words that don't belong here.
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
