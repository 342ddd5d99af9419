import CLinux
import CSystemd
import DBus
import Glibc

/// One run of a program, from the connection to the end of the process.
@BusActor final class ServiceRun {
    private let program: ServiceProgram
    private var connection: Connection?
    private var service: RunningService?
    private var isStopping = false
    private var idleTimer: EventSource?
    private var watchdog: EventSource?

    nonisolated static let stopSignals = [SIGTERM, SIGINT]
    /// What the handler of a signal writes, which can't make it: set before the signal may come.
    private nonisolated(unsafe) static var lastLine: UnsafeMutablePointer<CChar>?

    init(program: ServiceProgram) {
        self.program = program
    }

    func begin(
        _ arguments: ProgramArguments,
        _ start: @BusActor @Sendable (Connection, ProgramArguments) async throws -> RunningService
    ) async {
        do {
            let idleTimeout = try arguments.idleTimeout
            let connection = try Connection(arguments.bus)
            self.connection = connection
            for number in Self.stopSignals {
                _ = EventLoop.shared.onSignal(number) { self.stop() }
            }
            connection.onDisconnect { self.lostBus() }
            let service = try await start(connection, arguments)
            self.service = service
            if let reload = service.reload { reloadAtHangUp(reload) }
            if !isStopping { sd_notify(0, "READY=1") }
            feedWatchdog()
            if let idleTimeout, let idleness = service.idleness {
                end(after: idleTimeout, of: idleness)
            }
            giveBackMemory()
            EventLoop.shared.onRest { self.giveBackMemory() }
        } catch let end as NothingToDo {
            // A unit that ends before it says so has failed for systemd, with status 0, too.
            sd_notify(0, "READY=1")
            log(.notice, end.description)
            exit(EXIT_SUCCESS)
        } catch let error as UsageError {
            program.refuse(error)
        } catch {
            if !isStopping { fail(Self.line(for: error)) }
        }
    }

    /// Gives back what the start, or the work that was done, needed and waiting doesn't.
    private func giveBackMemory() {
        _ = malloc_trim(0)
        give_back_code()
    }

    private func reloadAtHangUp(_ reload: @escaping @BusActor @Sendable () -> Void) {
        _ = EventLoop.shared.onSignal(SIGHUP, reload)
        // An ignored signal may be dropped even where it is blocked; it is blocked by now.
        signal(SIGHUP, SIG_DFL)
    }

    /// Tells systemd from the loop's own thread that it runs, twice in the unit's `WatchdogSec=`.
    private func feedWatchdog() {
        var limit: UInt64 = 0
        guard sd_watchdog_enabled(0, &limit) > 0, limit > 1 else { return }
        sd_notify(0, "WATCHDOG=1")
        watchdog = EventLoop.shared.schedule(after: .microseconds(Int64(clamping: limit / 2))) {
            self.feedWatchdog()
        }
    }

    /// Looks at the end of each interval; the first one without a call was idle.
    private func end(after interval: Duration, of idleness: Idleness) {
        let served = idleness.served()
        idleTimer = EventLoop.shared.schedule(after: interval) {
            if idleness.served() == served, idleness.mayEnd() {
                onLoop { await self.leave(idleness) }
            } else {
                self.end(after: interval, of: idleness)
            }
        }
    }

    /// Leaves the bus so that no call is lost: systemd queues whatever wants to start the service
    /// again from its notice on, the bus has handed over what was sent to the name before that was
    /// given back, and all of it is answered.
    private func leave(_ idleness: Idleness) async {
        sd_notify(0, "STOPPING=1")
        await idleness.leave()
        while !idleness.mayEnd(), !isStopping {
            // A call that came at the last moment may take longer than a stop usually does.
            sd_notify(0, "EXTEND_TIMEOUT_USEC=5000000")
            await pause(.milliseconds(20))
        }
        stop()
    }

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        Self.endSoonWhateverHappens()
        sd_notify(0, "STOPPING=1")
        onLoop {
            await self.service?.stop()
            self.connection?.flush()
            self.connection?.close()
            // Not what libraries do at exit: another thread may be at work in them, and OpenBLAS
            // then crashes.
            quick_exit(EXIT_SUCCESS)
        }
    }

    /// A service that doesn't stop, or a bus that doesn't read, must not hold up the end.
    private static func endSoonWhateverHappens() {
        let reason = "stopped before everything was done: bus or disk took longer than 0.9 s"
        lastLine = strdup(logLine(.warning, reason))
        signal(SIGALRM) { _ in
            // Who reads the errors may stand still as well.
            var errors = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            if poll(&errors, 1, 0) > 0, let line = ServiceRun.lastLine {
                _ = write(STDERR_FILENO, line, strlen(line))
            }
            _exit(EXIT_SUCCESS)
        }
        var timer = itimerval(
            it_interval: timeval(),
            it_value: timeval(tv_sec: 0, tv_usec: 900_000)
        )
        setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
    }

    private func lostBus() {
        if !isStopping { fail("the connection to the bus is lost") }
    }

    private func fail(_ line: String) -> Never {
        log(.error, line)
        quick_exit(EXIT_FAILURE)
    }

    private static func line(for error: any Error) -> String {
        "can't start: \((error as? DBusError)?.message ?? String(describing: error))"
    }
}
