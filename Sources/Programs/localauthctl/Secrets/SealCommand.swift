import ArgumentParser
import DBus
import Glibc
import Linux
import Localization
import Sealing

/// Seals for programs whose language lacks HPKE, for example in a small prompt.
struct SealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: localized("Seal a secret for the service, as a prompt or another program does."),
        discussion: localized(
            "Reads the secret from standard input until its end, or from the terminal without an "
                + "echo, at most 64 KiB. Writes the sealed bytes to standard output."
        )
    )

    @Option(help: ArgumentHelp(localized("The public key, in Base64."), valueName: "base64"))
    var key: RecipientArgument

    @Option(
        help: ArgumentHelp(localized("The interface that takes the secret."), valueName: "name")
    )
    var info: SealingArgument

    @Option(
        help: ArgumentHelp(
            localized("The handle of the prompt, or the unique bus name of the caller."),
            valueName: "text"
        )
    )
    var aad: String

    func run() throws {
        let (recipient, purpose, holder) = (key.recipient, info.purpose, aad)
        try performOnLoop {
            let secret = try await SecretInput.secret(
                isatty(STDIN_FILENO) == 1 ? nil : "-",
                label: localized("Secret:"),
                option: "localauthctl seal"
            )
            guard let sealed = recipient.seal(secret, for: purpose, of: holder) else {
                throw Failure(.refused, localized("The secret cannot be sealed."))
            }
            guard OwnedDescriptor(adopting: dup(STDOUT_FILENO)).write(sealed) else {
                let reason = String(cString: strerror(errno))
                throw Failure(
                    .refused,
                    localized("%1$s can't be written: %2$s", localized("Standard output"), reason)
                )
            }
        }
    }
}

/// The use of a sealed value, by the interface that takes it.
enum SealingArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case passcode = "org.localauth.Passcode1"
    case keychain = "org.localauth.Keychain1"

    var purpose: SealingPurpose {
        switch self {
        case .passcode: .passcode
        case .keychain: .keychain
        }
    }
}

struct RecipientArgument: ExpressibleByArgument, Sendable {
    let recipient: RecipientKey

    init?(argument: String) {
        guard let bytes = Base64.decode(argument), let recipient = RecipientKey(bytes) else {
            return nil
        }
        self.recipient = recipient
    }
}
