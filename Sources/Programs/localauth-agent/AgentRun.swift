#if Prompt
import AgentKit
import CLinux
import DBus
import Glibc
import LocalAuthBus
import ServiceProgram
import Windows

@BusActor enum AgentRun {
    /// Idle time after which the program exits, unless `--resident` is given.
    private static let patience = Duration.seconds(60)

    /// Prompts after which an idle agent restarts: on Wayland, GTK 4.8 leaks one or two buffers of
    /// 1.2 MB for each window shown.
    private static let mostPrompts = 8
    private static let calm = Duration.seconds(30)

    /// Name on the session bus.
    ///
    /// A program that needs a prompt makes the bus start this name.
    private static let name = "org.localauth.Agent1"

    static func start(
        _ connection: Connection,
        _ arguments: ProgramArguments
    ) async throws -> RunningService {
        // Before the user types a password.
        guard forbid_tracing() == 0 else {
            throw StartError("this process can't be protected from being traced")
        }
        guard Display.open(for: "localauth-agent", style: PackageResources.prompt_css) else {
            throw StartError("there is no display")
        }
        let session = try takeName()
        let view = WindowView()
        let agent = PromptAgent(
            connection,
            serving: .session,
            isFallback: arguments.hasFlag("fallback"),
            view: view,
            changed: follow
        )
        if !arguments.hasFlag("resident") {
            endWhenIdle(view)
        } else if !Display.isX11 {
            reexecuteWhenIdle(agent, after: view)
        }
        agent.start()
        view.rest()
        return RunningService(stop: {
            session?.close()
            view.abort()
            await agent.stop()
        })
    }

    /// Claims the agent's name; nil without a session bus.
    private static func takeName() throws(NothingToDo) -> Connection? {
        guard getenv("DBUS_SESSION_BUS_ADDRESS") != nil,
            let session = try? Connection(.session)
        else { return nil }
        do {
            try session.requestName(name)
        } catch {
            throw NothingToDo("another agent serves this session")
        }
        return session
    }

    private static func follow(_ state: PromptAgent.State) {
        switch state {
        case .serviceAway: log(.info, "waiting for the service")
        case .registered(let session): log(.info, "serves session \(session)")
        case .refused(let error) where error.name == .agentExists:
            // Each session has one agent, and the first to register stays.
            log(.notice, "another agent serves this session")
            exit(EXIT_SUCCESS)
        case .refused(let error):
            log(.error, "the service refuses: \(error.message)")
            exit(EXIT_FAILURE)
        }
    }

    /// Re-executes an idle agent after ``mostPrompts`` prompts.
    ///
    /// The process stays, because the service identifies the agent by its process.
    private static func reexecuteWhenIdle(_ agent: PromptAgent, after view: WindowView) {
        var prompts = 0
        var timer: EventSource?
        view.idleChanged = { isIdle in
            timer?.cancel()
            timer = nil
            if !isIdle { prompts += 1 }
            guard isIdle, prompts >= mostPrompts else { return }
            timer = EventLoop.shared.schedule(after: calm) {
                onLoop {
                    await agent.stop()
                    execvp(CommandLine.arguments[0], CommandLine.unsafeArgv)
                    log(.error, "it can't begin anew: \(String(cString: strerror(errno)))")
                    exit(EXIT_FAILURE)
                }
            }
        }
    }

    private static func endWhenIdle(_ view: WindowView) {
        var timer = EventLoop.shared.schedule(after: patience) { exit(EXIT_SUCCESS) }
        view.idleChanged = { isIdle in
            timer.cancel()
            guard isIdle else { return }
            timer = EventLoop.shared.schedule(after: patience) { exit(EXIT_SUCCESS) }
        }
    }
}
#endif
