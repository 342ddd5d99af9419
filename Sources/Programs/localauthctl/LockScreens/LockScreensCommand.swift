import ArgumentParser
import Glibc
import Linux
import Localization

/// Puts `pam_localauth` into the PAM services of lock screens, and takes it out again.
struct LockScreensCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock-screens",
        abstract: localized("Use sensors in lock screens, sudo and dialogs."),
        subcommands: [Enable.self, Disable.self, Status.self],
        defaultSubcommand: Status.self
    )

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: localized("Add the lines of the PAM module, as root.")
        )

        @OptionGroup var folders: PAMFolderArguments

        func run() throws { try change(folders, enables: true) }
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: localized("Remove the lines of the PAM module, as root.")
        )

        @OptionGroup var folders: PAMFolderArguments

        func run() throws { try change(folders, enables: false) }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: localized("Show where the PAM module is used.")
        )

        @OptionGroup var folders: PAMFolderArguments
        @OptionGroup var output: OutputArguments

        func run() throws {
            let rows =
                [("common-auth", folders.common)] + folders.files.map { ($0.title, $0.state) }
            if output.json {
                let list = rows.map { name, state in
                    JSON.object([("name", .string(name)), ("state", .string(state.rawValue))])
                }
                print(JSON.array(list).text)
            } else {
                let titles = [localized("SERVICE"), localized("STATE")]
                printTable([titles] + rows.map { [$0, Self.title($1)] })
            }
        }

        private static func title(_ state: PAMFile.State) -> String {
            switch state {
            case .on: localized("on")
            case .off: localized("off")
            case .absent: localized("not installed")
            }
        }
    }

    private static func change(_ folders: PAMFolderArguments, enables: Bool) throws {
        let (files, common, isSystem) = (folders.files, folders.common, folders.isSystem)
        try performOnLoop {
            if isSystem, common == (enables ? .off : .on) {
                // Debian's own tool keeps the file in which sudo, polkit and logins look.
                let verb = enables ? "--enable" : "--disable"
                guard system("pam-auth-update \(verb) localauth") == 0 else {
                    throw Failure(
                        .refused,
                        localized("pam-auth-update failed."),
                        hint: localized("run it as root")
                    )
                }
            }
            for file in files {
                if enables { try file.enable() } else { try file.disable() }
            }
        }
    }
}

/// The folders of PAM services.
struct PAMFolderArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized("Change the files of this folder (default: /etc/pam.d)."),
            valueName: "folder"
        ),
        completion: .directory
    )
    var pamDirectory: String?

    var isSystem: Bool { pamDirectory == nil }

    var files: [PAMFile] {
        PAMFile.all.map { file in
            var file = file
            if let pamDirectory { file.folders = [pamDirectory] }
            return file
        }
    }

    /// The state of the stack that sudo, polkit and most logins share.
    var common: PAMFile.State {
        var file = PAMFile(title: "common-auth", service: "common-auth")
        if let pamDirectory { file.folders = [pamDirectory] }
        return file.state
    }
}
