import AgentKit
import ArgumentParser
import DBus
import LocalAuthBus
import LocalAuthClient
import Localization

struct EvaluateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: localized("Authenticate the user."),
        discussion: localized(
            "Shows the prompt of the session. Without an agent in the session, the prompt is on "
                + "this terminal. Exit status 0 only for a successful authentication. Ctrl-C "
                + "cancels."
        )
    )

    @Option(help: ArgumentHelp(localized("The policy to evaluate.")))
    var policy = AuthenticationPolicy.biometricsOrPasscode

    @Option(
        help: ArgumentHelp(
            localized("The reason. The prompt shows it as “The program is trying to …”.")
        )
    )
    var reason = localized("confirm your identity")

    @Option(
        help: ArgumentHelp(localized("Give up after this time, such as 30s."), valueName: "time")
    )
    var timeout: TimeArgument?

    @Option(help: ArgumentHelp(localized("Only this sensor; can be repeated.")))
    var sensor: [String] = []

    @Option(
        help: ArgumentHelp(
            localized("At least strong, weak or convenience."),
            valueName: "strength"
        )
    )
    var minimumStrength: BiometryStrength?

    @Option(help: ArgumentHelp(localized("For this user (root)."), valueName: "uid"))
    var uid: UInt32?

    @OptionGroup var agent: OwnAgentArguments
    @OptionGroup var bus: BusArguments
    @OptionGroup var output: OutputArguments

    func run() throws {
        let (policy, reason, uid, output) = (policy.rawValue, reason, uid, output)
        let (options, isAgentWanted) = (options, !agent.noAgent && uid == nil)
        try perform(bus) { service in
            let answer = try await evaluate(
                service,
                policy: policy,
                reason: reason,
                options: options,
                isAgentWanted: isAgentWanted
            )
            do {
                try show(answer, output.json)
            } catch let error as DBusError where error.name == .notInteractive && uid != nil {
                // The service's remedy is about the caller, not about the other user.
                throw Failure(
                    .refused,
                    error,
                    hint: localized("localauthctl agent --session, as that user, at this machine")
                )
            }
        }
    }

    private var options: [String: Variant] {
        var options: [String: Variant] = uid.map { ["uid": .uint32($0)] } ?? [:]
        if let timeout { options["timeout"] = .uint64(timeout.milliseconds) }
        if !sensor.isEmpty { options["sensors"] = .strings(sensor) }
        if let minimumStrength { options["minimum-strength"] = .string(minimumStrength.rawValue) }
        return options
    }
}

/// Shows a prompt, and progress while another agent shows it; an interruption cancels.
///
/// A context keeps the success for later calls.
@BusActor func evaluate(
    _ service: RemoteService,
    on context: Context1Proxy? = nil,
    policy: UInt32,
    reason: String,
    options: [String: Variant],
    isAgentWanted: Bool
) async throws -> Result<[String: Variant], DBusError> {
    let own = try await OwnAgent.start(service, isWanted: isAgentWanted)
    let call =
        try context?.evaluateStream(policy: policy, reason: reason, options: options)
        ?? service.manager.evaluateStream(policy: policy, reason: reason, options: options)
    onInterruption {
        own?.abort()
        // The command ends with the reply to Evaluate, not with the reply to Invalidate.
        onLoop {
            if let context {
                try? await context.invalidate()
            } else {
                try? await service.manager.invalidate()
            }
        }
    }
    onLoop {
        let sensors = (try? await service.plainSensors()) ?? []
        let own = (agent: own, words: instructions(of: sensors))
        for await event in call.events where own.agent?.isShowing != true {
            let progress = PromptProgress(kind: event.kind, detail: event.detail)
            let sentence = progress.flatMap {
                PromptText.sentence($0, instructions: own.words)
            }
            if let sentence { tell(sentence) }
        }
    }
    let answer = await call.result()
    await own?.stop()
    return answer
}

private func show(_ answer: Result<[String: Variant], DBusError>, _ json: Bool) throws {
    switch answer {
    case .success(let result):
        let text = { (key: String) in plainText(result[key]?.asString ?? "", limit: 64) }
        let mechanism = text("mechanism")
        let type = biometryName(result["biometry-type"]?.asUInt32 ?? 0)
        if json {
            let object = JSON.object([
                ("granted", .bool(true)), ("mechanism", .string(mechanism)),
                ("biometryType", mechanism == "biometry" ? .string(type) : .null),
                ("sensor", .string(text("sensor"))), ("strength", .string(text("strength"))),
            ])
            print(object.text)
        } else {
            print(grantedSentence(result))
        }
    case .failure(let error):
        if json, let code = RefusalCode(error.name), code != .limitsExceeded {
            let object = JSON.object([
                ("granted", .bool(false)), ("code", .int(Int64(code.rawValue))),
                ("name", .string(shortName(error.name))),
                ("message", .string(plainText(error.message, limit: 512))),
            ])
            print(object.text)
        }
        throw error
    }
}
