import ArgumentParser
import DBus
import LocalAuthBus
import Localization

/// How an item is asked for.
struct UseArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            localized("What it is for; the prompt says that the program is trying to do this.")
        )
    )
    var reason = localized("use an item of your keychain")

    @Option(
        help: ArgumentHelp(localized("Give up after this time, such as 30s."), valueName: "time")
    )
    var timeout: TimeArgument?

    @Flag(help: ArgumentHelp(localized("Fail instead of asking anybody.")))
    var noPrompt = false

    @Flag(
        help: ArgumentHelp(localized("Never ask on this terminal, even if nothing else can ask."))
    )
    var noAgent = false

    @Option(
        help: ArgumentHelp(
            localized("The item's own password: a file, or - for a pipe."),
            valueName: "file"
        )
    )
    var passwordFile: String?

    /// Runs a call that may prompt, with somebody there to answer.
    @BusActor func perform<Value: Sendable>(
        _ service: Service,
        _ call: @BusActor ([String: Variant]) async throws(DBusError) -> Value
    ) async throws -> Value {
        var options: [String: Variant] = [:]
        if let timeout { options["timeout"] = .uint64(timeout.milliseconds) }
        if noPrompt { options["interaction-not-allowed"] = .bool(true) }
        let context = try await lent(service)
        if let context { options["context"] = .objectPath(context.path) }
        let own = noPrompt ? nil : try await OwnAgent.start(service, isWanted: !noAgent)
        onInterruption {
            own?.abort()
            // The answer to the call ends the command, not the answer to this.
            onLoop {
                if let context {
                    try? await context.invalidate()
                } else {
                    try? await service.manager.invalidate()
                }
            }
        }
        let answer: Result<Value, DBusError>
        do throws(DBusError) {
            answer = .success(try await call(options))
        } catch {
            answer = .failure(error)
        }
        await own?.stop()
        return try answer.get()
    }

    @BusActor private func lent(_ service: Service) async throws -> Context1Proxy? {
        guard let passwordFile else { return nil }
        return try await service.context(lending: .secret(file: passwordFile))
    }
}
