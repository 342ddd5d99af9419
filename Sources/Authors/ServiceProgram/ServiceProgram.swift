public import DBus
import Glibc

/// What all programs that serve a bus have in common.
///
/// It reads the command line, connects, starts the service, tells systemd that it is ready,
/// stops at SIGTERM and SIGINT with status 0 within a second, and ends with status 1 and one line
/// when it can't start or loses the bus.
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
    ///   - name: The name of the program, as people call it.
    ///   - abstract: One sentence for the help text.
    ///   - options: What it takes beyond `--bus`, `--help` and `--version`.
    ///   - defaultBus: Without `--bus`; nil: the system bus for root, the session's for others.
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
    ///   - start: Exports the objects and then takes the bus name. What it throws becomes
    ///     one line on standard error and exit status 1 (``UsageError``: 64, ``NothingToDo``: 0).
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
        // Connecting blocks the loop; until that is done, a signal may simply end the process.
        for number in ServiceRun.stopSignals { signal(number) { _ in _exit(EXIT_SUCCESS) } }
        onLoop { await ServiceRun(program: self).begin(arguments, start) }
        loop()
        exit(EXIT_SUCCESS)
    }

    /// To the hard limit: the usual soft one, 1024, is for programs that call select(2).
    ///
    /// Not beyond what a bus could ever fill: PAM's helpers close every number up to the limit.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private func argumentsOrExit() -> ProgramArguments {
        // They are read from a file of the kernel's. Where that can't be opened there is not even
        // the name: it would be another bus, another folder, and settings that nobody made.
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

/// A service that has started, and how to end it.
public struct RunningService: Sendable {
    let reload: (@BusActor @Sendable () -> Void)?
    let idleness: Idleness?
    let stop: @BusActor @Sendable () async -> Void

    /// Says what happens at signals.
    ///
    /// - Parameters:
    ///   - reload: Called at SIGHUP; nil: SIGHUP is ignored.
    ///   - idleness: When the process isn't needed, for ``ProgramOption/idleTimeout``; nil: it
    ///     always is.
    ///   - stop: Awaited at SIGTERM and SIGINT; the process ends after it, or 0.9 s later whatever
    ///     it does.
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

/// Why a program can't start: one sentence for people, exit status 1.
public struct StartError: Error, CustomStringConvertible, Hashable {
    /// The sentence.
    public let description: String

    /// Makes an error from one sentence for people.
    public init(_ message: String) { description = message }
}

/// Why a program is not needed, found at its start: one sentence, exit status 0.
public struct NothingToDo: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Makes it from one sentence for people.
    public init(_ message: String) { description = message }
}
