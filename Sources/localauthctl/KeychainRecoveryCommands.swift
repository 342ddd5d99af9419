import ArgumentParser
import AuthService
import DBus
import Glibc
import KeychainStore
import Localization

/// Where the service keeps its state.
struct StateArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(localized("Where the service keeps its state."), valueName: "directory")
    )
    var stateDirectory: String?

    /// The folder, as the service finds it; from now on this process is its owner.
    ///
    /// What root would write there the service could not read.
    func enter() throws(Failure) -> String {
        let directory: String
        do {
            directory = try StateDirectory.path(stateDirectory)
        } catch {
            throw Failure(.usage, "\(error)", hint: "--state-directory")
        }
        var status = stat()
        guard stat(directory + "/keychain", &status) == 0 else {
            throw Failure(
                .refused,
                localized("There is no keychain in %1$s.", directory),
                hint: localized("--state-directory, as the service has it")
            )
        }
        if geteuid() == 0, status.st_uid != 0 {
            guard setgroups(0, nil) == 0, setgid(status.st_gid) == 0, setuid(status.st_uid) == 0
            else { throw Failure(.refused, String(cString: strerror(errno))) }
        }
        return directory
    }
}

struct KeychainExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-recovery-key",
        abstract: localized("Print the master key, to be kept in a safe place."),
        discussion: localized("Whoever has it and the state directory can read every secret.")
    )

    @OptionGroup var state: StateArguments

    func run() throws {
        try performOnLoop {
            let directory = try state.enter()
            let credentials = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
            do throws(KeychainError) {
                let key = try KeychainStore.recoveryKey(
                    directory: directory,
                    credentials: credentials
                )
                print(key)
            } catch {
                throw Failure(
                    .refused,
                    serviceText(error.message),
                    hint: "localauthctl keychain restore"
                )
            }
        }
    }
}

struct KeychainRestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: localized("Put the master key back, from its recovery key."),
        discussion: localized("The service has to be stopped. Nothing is overwritten.")
    )

    @Option(
        help: ArgumentHelp(
            localized("The recovery key: a file, or - for a pipe."),
            valueName: "file"
        )
    )
    var keyFile: String?

    @OptionGroup var state: StateArguments

    func run() throws {
        try performOnLoop {
            let sealed = try await SecretInput.sealed(
                keyFile,
                label: localized("Recovery key:"),
                option: "--key-file"
            )
            let directory = try state.enter()
            let buffer = SecretBuffer(capacity: 1024)
            lseek(sealed.rawValue, 0, SEEK_SET)
            let count = max(0, buffer.fill(from: sealed.rawValue))
            let text = String(decoding: buffer.bytes[..<count], as: UTF8.self)
            do throws(KeychainError) {
                try KeychainStore.restore(text, directory: directory)
            } catch {
                throw Failure(
                    .refused,
                    serviceText(error.message),
                    hint: localized("stop the service, and compare the key with what was printed")
                )
            }
            print(localized("The master key is in place. Start the service."))
        }
    }
}
