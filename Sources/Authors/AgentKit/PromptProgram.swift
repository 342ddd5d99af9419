import DBus
import Glibc
import ServiceProgram

/// The process of a prompt agent.
///
/// `main.swift` needs little more than `PromptProgram(name: "ask", abstract: "…").main { Question()
/// }`.
public struct PromptProgram: Sendable {
    private let program: ServiceProgram

    /// Describes the program, which also takes `--process PID` to serve one process instead of the
    /// session.
    public init(name: String, abstract: String) {
        let process = ProgramOption.value(
            "process",
            "PID",
            help: "Serve this process and its children, not the session."
        )
        program = ServiceProgram(name: name, abstract: abstract, options: [process])
    }

    /// Shows prompts in the view that `make` returns.
    ///
    /// An error of `make`, or a refused registration, prints one line and exits with status 1.
    public func main(
        _ make: @escaping @BusActor @Sendable () async throws -> any PromptView
    ) -> Never {
        program.main { connection, arguments in
            var scope = PromptAgent.Scope.session
            if let word = arguments["process"] {
                guard let pid = UInt32(word) else { throw UsageError("'\(word)' is no process") }
                scope = .process(pid)
            }
            let agent = PromptAgent(connection, serving: scope, view: try await make()) { state in
                guard case .refused(let error) = state else { return }
                log(.error, "the service refuses: \(error.message)")
                exit(EXIT_FAILURE)
            }
            agent.start()
            return RunningService(stop: { await agent.stop() })
        }
    }
}
