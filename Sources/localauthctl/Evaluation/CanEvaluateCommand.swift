import ArgumentParser
import LocalAuthClient
import Localization

struct CanEvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can-evaluate",
        abstract: localized("Tell whether a policy could be evaluated now."),
        discussion: localized("Asks nobody. Exit status 0 for yes, 1 for no.")
    )

    @Option(help: ArgumentHelp(localized("What would be asked for.")))
    var policy = AuthenticationPolicy.biometricsOrPasscode

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (policy, output) = (policy, output)
        try perform(bus) { service in
            let answer = try await PolicyAnswer(policy, service)
            if output.json {
                print(answer.json.text)
            } else if answer.isAvailable {
                print(localized("Yes: %1$s can be evaluated.", policy.name))
            } else {
                print(localized("No: %1$s", answer.sentence))
                let next = errorName(answer.code).flatMap(remedy(for:))
                if let next { tellNext(next) }
            }
            guard answer.isAvailable else { throw ExitCode(Failure.Status.refused.rawValue) }
        }
    }
}
