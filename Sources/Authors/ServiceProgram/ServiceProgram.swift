public import DBus
import Glibc

/// The common parts of all programs that serve a bus.
///
/// Parses the command line, connects, starts the service and notifies systemd. SIGTERM and SIGINT
/// stop the program with status 0 within a second. If the program cannot start or loses the bus, it
/// prints one line and exits with status 1.
public struct ServiceProgram: Sendable {
    /// The version of all programs of the project.
    public static let version = "0.1.0"

    let name: String
    let abstract: String
    let options: [ProgramOption]
    let defaultBus: Connection.Address?

    /// Describes a program.
    ///
    /// - Parameters:
    ///   - name: The program's display name.
    ///   - abstract: A sentence for the help text.
    ///   - options: Options in addition to `--bus`, `--help` and `--version`.
    ///   - defaultBus: The bus without `--bus`; nil for the system bus for root, the session bus
    ///     for other users.
    public init(
        name: String,
        abstract: String,
        options: [ProgramOption] = [],
        defaultBus: Connection.Address? = nil
    ) {
        self.name = name
        self.abstract = abstract
        self.options = options + ProgramOption.common(defaultBus)
        self.defaultBus = defaultBus
    }

    /// Runs the program; called from `main.swift`.
    ///
    /// - Parameters:
    ///   - loop: Runs the event loop.
    ///   - start: Exports the objects, then takes the bus name. An error prints one line on
    ///     standard error and exits with status 1 (``UsageError``: 64, ``NothingToDo``: 0).
    public func main(
        running loop: () -> Void = EventLoop.shared.run,
        _ start:
            @escaping @BusActor @Sendable (Connection, ProgramArguments) async throws ->
            RunningService
    ) -> Never {
        let arguments = argumentsOrExit()
        Self.raiseDescriptorLimit()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGHUP, SIG_IGN)
        // Connecting blocks the loop; until it is done, a signal may simply end the process.
        for number in ServiceRun.stopSignals { signal(number) { _ in _exit(EXIT_SUCCESS) } }
        onLoop { await ServiceRun(program: self).begin(arguments, start) }
        loop()
        exit(EXIT_SUCCESS)
    }

    /// Raises the soft descriptor limit of 1024, which exists for programs that call select(2).
    ///
    /// The cap exceeds what a bus can fill. A higher limit would slow down PAM's helpers, which close
    /// every descriptor up to the limit.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private func argumentsOrExit() -> ProgramArguments {
        // Swift reads the arguments from /proc. If that fails, even the program's name is missing.
        // Starting anyway would mean default settings, another bus and another folder.
        guard CommandLine.arguments.first?.isEmpty == false else {
            let hint = "mount /proc, or allow more open files."
            writeAll(2, "\(name): can't start: The command line can't be read: \(hint)\n")
            exit(EXIT_FAILURE)
        }
        do {
            switch try parse(Array(CommandLine.arguments.dropFirst())) {
            case .run(let arguments): return arguments
            case .help: writeAll(1, helpText)
            case .version: writeAll(1, "\(name) \(Self.version)\n")
            }
            exit(EXIT_SUCCESS)
        } catch {
            refuse(error)
        }
    }

    func refuse(_ error: UsageError) -> Never {
        let line = singleLine(error.description)
        writeAll(2, "\(name): \(line)\nTry '\(name) --help'.\n")
        exit(64)
    }
}

/// A started service, with the callbacks that reload and stop it.
public struct RunningService: Sendable {
    let reload: (@BusActor @Sendable () -> Void)?
    let idleness: Idleness?
    let stop: @BusActor @Sendable () async -> Void

    /// Sets the callbacks for signals and idleness.
    ///
    /// - Parameters:
    ///   - reload: Called on SIGHUP; nil ignores SIGHUP.
    ///   - idleness: The conditions for ``ProgramOption/idleTimeout``; nil if the process must keep
    ///     running.
    ///   - stop: Awaited on SIGTERM and SIGINT. The process exits when it returns, or after 0.9 s
    ///     in any case.
    public init(
        reload: (@BusActor @Sendable () -> Void)? = nil,
        idleness: Idleness? = nil,
        stop: @escaping @BusActor @Sendable () async -> Void = {}
    ) {
        self.reload = reload
        self.idleness = idleness
        self.stop = stop
    }
}

/// The cause why a program cannot start, as a sentence for the user; exit status 1.
public struct StartError: Error, CustomStringConvertible, Hashable {
    public let description: String

    public init(_ message: String) { description = message }
}

/// The cause why a program has no work at its start, as a sentence for the user; exit status 0.
public struct NothingToDo: Error, CustomStringConvertible {
    public let description: String

    public init(_ message: String) { description = message }
}
