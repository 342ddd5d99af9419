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
