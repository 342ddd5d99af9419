import CLinux
import CSystemd
import DBus
import Glibc

/// A run of a program, from the connection to the exit.
@BusActor final class ServiceRun {
    private let program: ServiceProgram
    private var connection: Connection?
    private var service: RunningService?
    private var isStopping = false
    private var idleTimer: EventSource?
    private var watchdog: EventSource?

    nonisolated static let stopSignals = [SIGTERM, SIGINT]
    // SAFETY: The signal handler cannot allocate this line.
    ///
    /// It is set once, before the handler is installed.
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
            if let reload = service.reload { _ = EventLoop.shared.onSignal(SIGHUP, reload) }
            if !isStopping { sd_notify(0, "READY=1") }
            feedWatchdog()
            if let idleTimeout, let idleness = service.idleness {
                end(after: idleTimeout, of: idleness)
            }
            giveBackMemory()
            EventLoop.shared.onRest { self.giveBackMemory() }
        } catch let end as NothingToDo {
            // systemd treats a unit that exits before READY=1 as failed, even with status 0.
            sd_notify(0, "READY=1")
            log(.notice, end.description)
            exit(EXIT_SUCCESS)
        } catch let error as UsageError {
            program.refuse(error)
        } catch {
            if !isStopping { fail(Self.line(for: error)) }
        }
    }

    /// Returns memory that the start or finished work needed, but an idle process does not.
    private func giveBackMemory() {
        _ = malloc_trim(0)
        give_back_code()
    }

    /// Feeds the watchdog from the loop's thread, twice in each `WatchdogSec=` interval.
    private func feedWatchdog() {
        var limit: UInt64 = 0
        guard sd_watchdog_enabled(0, &limit) > 0, limit > 1 else { return }
        sd_notify(0, "WATCHDOG=1")
        watchdog = EventLoop.shared.schedule(after: .microseconds(Int64(clamping: limit / 2))) {
            self.feedWatchdog()
        }
    }

    /// Ends the service after the first interval without a call.
    private func end(after interval: Duration, of idleness: Idleness) {
        let served = idleness.served()
        idleTimer = EventLoop.shared.schedule(after: interval) {
            if idleness.served() == served, idleness.mayEnd() {
                onLoop { await self.stopWhenIdle(idleness) }
            } else {
                self.end(after: interval, of: idleness)
            }
        }
    }

    /// Leaves the bus without losing a call.
    ///
    /// After STOPPING=1, systemd queues requests to start the service again. The bus delivers calls
    /// to the old owner before the name is released, and the service answers all of them.
    private func stopWhenIdle(_ idleness: Idleness) async {
        sd_notify(0, "STOPPING=1")
        await idleness.releaseNames()
        while !idleness.mayEnd(), !isStopping {
            // A late call may take longer than the usual stop timeout.
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
            // Skip the libraries' exit handlers: another thread may still run in OpenBLAS, which
            // then crashes.
            quick_exit(EXIT_SUCCESS)
        }
    }

    /// Exits after 0.9 s, even if the service does not stop or the bus does not read.
    private static func endSoonWhateverHappens() {
        let reason = "stopped before everything was done: bus or disk took longer than 0.9 s"
        lastLine = strdup(logLine(.warning, reason))
        signal(SIGALRM) { _ in
            // The reader of standard error may be blocked as well.
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
