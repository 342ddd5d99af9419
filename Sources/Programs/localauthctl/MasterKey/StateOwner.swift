import AgentKit
import ArgumentParser
import Glibc
import KeychainStore
import Linux
import Localization

struct StateArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(localized("Where the service keeps its state."), valueName: "directory"),
        completion: .directory
    )
    var stateDirectory: String?

    /// The state directory, found as the service finds it.
    func path() throws(Failure) -> String {
        if let stateDirectory { return stateDirectory }
        guard let path = StatePath.folder(system: "localauth", user: "localauth") else {
            throw Failure(
                .usage,
                localized("There is no home directory."),
                hint: "--state-directory"
            )
        }
        return path
    }
}

/// Reports where a damaged database was moved, if any.
func tell(setAside: String?) {
    guard let setAside else { return }
    tell(localized("The keychain was damaged and set aside as %1$s.", setAside))
}

/// The owner of the state directory.
///
/// Files that root wrote there would be unreadable to the service.
struct StateOwner {
    private let directory: String
    private let status: stat

    init(_ state: StateArguments) throws(Failure) {
        directory = try state.path()
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(
                .refused,
                localized("There is no state directory %1$s.", directory),
                hint: localized(
                    "use the --state-directory of the service; its first start "
                        + "creates the directory"
                )
            )
        }
        self.status = status
    }

    /// Runs `body` with the owner's effective user and group, then restores root's.
    func perform<Result>(
        _ body: (String) throws(KeychainError) -> Result
    ) throws(Failure) -> Result {
        let isRoot = geteuid() == 0 && status.st_uid != 0
        if isRoot {
            guard setgroups(0, nil) == 0, setegid(status.st_gid) == 0, seteuid(status.st_uid) == 0
            else { throw Failure(.refused, String(cString: strerror(errno))) }
        }
        defer {
            if isRoot {
                seteuid(0)
                setegid(0)
            }
        }
        do throws(KeychainError) {
            return try body(directory)
        } catch {
            throw Failure(.refused, serviceText(error.message), hint: hint(for: error))
        }
    }

    private func hint(for error: KeychainError) -> String {
        switch error.code {
        case .duplicate: localized("localauthctl keychain init --tpm seals it")
        case .notAvailable:
            localized("stop the service; localauthctl keychain restore brings a lost key back")
        default: localized("compare the recovery key with the printed key")
        }
    }
}
