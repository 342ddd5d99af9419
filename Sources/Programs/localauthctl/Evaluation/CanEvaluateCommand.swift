import ArgumentParser
import LocalAuthClient
import Localization

struct CanEvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can-evaluate",
        abstract: localized("Tell whether a policy could be evaluated now."),
        discussion: localized(
            "Shows no prompt. Exit status 0 for yes; 1 for no and for not now, as in a locked "
                + "session."
        )
    )

    @Option(help: ArgumentHelp(localized("The policy to check.")))
    var policy = AuthenticationPolicy.biometricsOrPasscode

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (policy, output) = (policy, output)
        try perform(bus) { service in
            let answer = try await PolicyAnswer(policy, service)
            let interaction = try await Interaction(service)
            // A missing agent is no obstacle: an app can bring its own, as localauthctl does.
            let isNow = interaction.isPossible || interaction.lacksAgent
            if output.json {
                print(answer.json(interaction).text)
            } else if !answer.isAvailable {
                print(localized("No: %1$s", answer.sentence))
                let next = errorName(answer.code).flatMap { remedy(for: $0, answer.message) }
                if let next { tellNext(next) }
            } else if isNow {
                print(localized("Yes: %1$s can be evaluated.", policy.name))
                if interaction.lacksAgent { tell(interaction.sentence) }
                interaction.tellRemedy()
            } else {
                print(localized("Not now: %1$s", interaction.sentence))
                interaction.tellRemedy()
            }
            guard answer.isAvailable, isNow else {
                throw ExitCode(Failure.Status.refused.rawValue)
            }
        }
    }
}
