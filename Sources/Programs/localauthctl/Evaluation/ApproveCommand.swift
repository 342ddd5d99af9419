import AgentKit
import ArgumentParser
import DBus
import Glibc
import LocalAuthClient
import Localization

/// A gate for scripts and agents: a person approves a command before it runs.
struct ApproveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: localized("Run a command after the user has approved it."),
        usage: "localauthctl approve [OPTIONS] TEXT -- COMMAND [ARGUMENT ...]",
        discussion: localized(
            "The prompt shows the text and the command. The journal keeps the command and the "
                + "answer. The exit status is the status of the command, or 1 without an approval."
        )
    )

    @Argument(help: ArgumentHelp(localized("The purpose of the command."), valueName: "text"))
    var text: String

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp(localized("The command, after --."), valueName: "command")
    )
    var command: [String] = []

    @Option(
        help: ArgumentHelp(localized("Give up after this time, such as 30s."), valueName: "time")
    )
    var timeout: TimeArgument?

    @OptionGroup var agent: OwnAgentArguments
    @OptionGroup var bus: BusArguments

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError(localized("Give the command after --."))
        }
    }

    func run() throws {
        let line = Self.quoted(command)
        let reason = String("\(text): \(line)".prefix(Self.longestReason))
        let options = timeout.map { ["timeout": Variant.uint64($0.milliseconds)] } ?? [:]
        let isAgentWanted = !agent.noAgent
        do {
            try perform(bus) { service in
                let answer = try await evaluate(
                    service,
                    policy: AuthenticationPolicy.biometricsOrPasscode.rawValue,
                    reason: reason,
                    options: options,
                    isAgentWanted: isAgentWanted
                )
                _ = try answer.get()
            }
        } catch let code as ExitCode where code.isSuccess {
            Self.record("approved", line)
            try Self.replaceProcess(with: command)
        } catch {
            Self.record("not approved", line)
            throw error
        }
    }

    /// The longest text of a prompt, in characters.
    private static let longestReason = 480

    /// The command as a shell would take it.
    static func quoted(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && word.allSatisfy(isPlain)
            return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
        }
        .joined(separator: " ")
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || "@%+=:,./-_".contains(character))
    }

    /// Writes a record to the system's log, which adds user and process itself.
    private static func record(_ answer: String, _ line: String) {
        let text = plainText("command \(answer): \(line)", limit: 1024)
        text.withCString { text in
            withVaList([text]) { vsyslog(LOG_AUTHPRIV | LOG_NOTICE, "%s", $0) }
        }
    }

    /// Runs the command in this process, with the signals of a fresh program.
    private static func replaceProcess(with command: [String]) throws {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { signal(number, SIG_DFL) }
        var words = command.map { strdup($0) } + [nil]
        if let program = words[0] { execvp(program, &words) }
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        tell(localized("%1$s can't be run: %2$s", plainText(command[0], limit: 256), reason))
        throw ExitCode(127)
    }
}
