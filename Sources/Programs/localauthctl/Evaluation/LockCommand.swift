import ArgumentParser
import DBus
import Glibc
import LocalAuthBus
import LocalAuthClient
import Localization

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: localized("Refuse biometry until the next correct password.")
    )

    @Option(help: ArgumentHelp(localized("The cause, shown when the password is required.")))
    var cause = localized("locked with localauthctl")

    @Option(
        help: ArgumentHelp(
            localized("For this user (root, or a user permitted by polkit)."),
            valueName: "uid"
        )
    )
    var uid: UInt32?

    @OptionGroup var bus: BusArguments

    func run() throws {
        let (uid, cause) = (uid ?? getuid(), cause)
        try perform(bus) { service in
            try await service.manager.requirePasscode(uid: uid, cause: cause)
            print(localized("Biometry waits for the password of user %1$s.", "\(uid)"))
        }
    }
}
