import ArgumentParser

struct CanEvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can-evaluate",
        abstract: "Tell whether a policy could be evaluated now.",
        discussion: "Asks nobody. Exit status 0 for yes, 1 for no."
    )

    @Option(help: "What would be asked for.")
    var policy = PolicyArgument.biometricsOrPasscode

    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (policy, output) = (policy, output)
        try perform(bus) { service in
            let answer = try await PolicyAnswer(policy, service)
            if output.json {
                print(answer.json.text)
            } else if answer.isAvailable {
                print("Yes: \(policy.name) can be evaluated.")
            } else {
                print("No: \(answer.message) (\(answer.name ?? "code"), \(answer.code))")
                let next = answer.name.flatMap(remedy(forRefusal:))
                if let next { tell("  Next: \(next)") }
            }
            guard answer.isAvailable else { throw ExitCode(Failure.Status.refused.rawValue) }
        }
    }
}
