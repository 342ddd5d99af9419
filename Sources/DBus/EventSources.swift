import CSystemd
import Glibc

/// What the loop waits for: connections, timers, descriptors and signals.
@BusActor
final class EventSources {
    static let shared = EventSources()

    private var connections: [Connection] = []
    private var watches: [(descriptor: Int32, source: EventSource)] = []
    private var signals: [(number: Int32, source: EventSource)] = []
    private var timers = TimerQueue()
    private var polled: [pollfd] = []
    private var signalDescriptor: Int32 = -1
    private let timerDescriptor: Int32
    /// What the timer descriptor is set to; `.max`: nothing.
    private var armed = UInt64.max

    private init() {
        timerDescriptor = timerfd_create(
            CLOCK_BOOTTIME,
            Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK)
        )
        precondition(timerDescriptor >= 0, "The kernel refuses a timer.")
    }

    // MARK: Sources

    func add(_ connection: Connection) {
        connections.append(connection)
    }

    func remove(_ connection: Connection) {
        connections.removeAll { $0 === connection }
    }

    func addTimer(after duration: Duration, _ body: @escaping @BusActor () -> Void) -> EventSource {
        let source = EventSource(body: body) { self.timers.noteCanceled() }
        let now = Self.now()
        let (deadline, overflow) = now.addingReportingOverflow(duration.nanoseconds)
        timers.insert(source, at: overflow ? .max : deadline)
        return source
    }

    func addWatch(_ descriptor: Int32, _ body: @escaping @BusActor () -> Void) -> EventSource {
        let box = SourceBox()
        let source = EventSource(body: body) {
            self.watches.removeAll { $0.source === box.source }
            box.source = nil
        }
        box.source = source
        watches.append((descriptor, source))
        return source
    }

    func addSignal(_ number: Int32, _ body: @escaping @BusActor () -> Void) -> EventSource {
        let box = SourceBox()
        let source = EventSource(body: body) {
            self.signals.removeAll { $0.source === box.source }
            box.source = nil
            self.updateSignalMask()
        }
        box.source = source
        signals.append((number, source))
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, number)
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
        updateSignalMask()
        return source
    }

    private func updateSignalMask() {
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in signals {
            sigaddset(&mask, signal.number)
        }
        let flags = Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK)
        let descriptor = signalfd(signalDescriptor, &mask, flags)
        precondition(descriptor >= 0, "The kernel refuses a signal descriptor.")
        signalDescriptor = descriptor
    }

    // MARK: Serving

    /// One message of each connection.
    ///
    /// True when there was any.
    func processConnections() -> Bool {
        var isBusy = false
        // An index, because a message may add or close a connection.
        var index = 0
        while index < connections.count {
            let connection = connections[index]
            isBusy = connection.processOne() || isBusy
            index += 1
        }
        return isBusy
    }

    /// Waits until a connection is ready to send, as it is but for its first moments.
    ///
    /// No message is taken meanwhile: connections that are ready stay untouched.
    func finishOpening(_ bus: OpaquePointer) {
        while sd_bus_is_open(bus) > 0, sd_bus_is_ready(bus) == 0 {
            let opening = connections.filter { sd_bus_is_ready($0.bus) == 0 }
            var isBusy = false
            for connection in opening where sd_bus_is_ready(connection.bus) == 0 {
                isBusy = sd_bus_process(connection.bus, nil) > 0 || isBusy
            }
            guard !isBusy, sd_bus_is_ready(bus) == 0 else { continue }
            var waiting = opening.map {
                pollfd(fd: $0.descriptor, events: $0.pollEvents, revents: 0)
            }
            // An end is given up when sd-bus says so, which it does by its own deadline.
            poll(&waiting, nfds_t(waiting.count), 100)
        }
    }

    /// Waits for anything to happen, and serves what is not a bus.
    ///
    /// True when `wake` was written to.
    func wait(_ wake: Int32) -> Bool {
        armTimer()
        let count = fillPolled(wake)
        let ready = poll(&polled, nfds_t(polled.count), pollTimeout())
        guard ready > 0 else { return false }
        if polled[1].revents != 0 {
            fireTimers()
        }
        if polled[2].revents != 0 {
            readSignals()
        }
        let fired = watches.indices.filter { polled[count + $0].revents != 0 }
        for source in fired.map({ watches[$0].source }) {
            source.body?()
        }
        return polled[0].revents != 0
    }

    /// Refills the poll list; returns where the watches begin.
    private func fillPolled(_ wake: Int32) -> Int {
        polled.removeAll(keepingCapacity: true)
        let input = Int16(POLLIN)
        polled.append(pollfd(fd: wake, events: input, revents: 0))
        polled.append(pollfd(fd: timerDescriptor, events: input, revents: 0))
        polled.append(pollfd(fd: signalDescriptor, events: input, revents: 0))
        for connection in connections {
            polled.append(
                pollfd(fd: connection.descriptor, events: connection.pollEvents, revents: 0)
            )
        }
        let count = polled.count
        for watch in watches {
            polled.append(pollfd(fd: watch.descriptor, events: input, revents: 0))
        }
        return count
    }

    /// In milliseconds; sd-bus has a deadline of its own only while it authenticates.
    private func pollTimeout() -> Int32 {
        var nearest = UInt64.max
        for connection in connections {
            nearest = min(nearest, connection.deadline)
        }
        guard nearest != .max else { return -1 }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
        guard nearest > now else { return 0 }
        return Int32(clamping: (nearest - now) / 1000 + 1)
    }

    // MARK: Timers

    /// Sets the kernel's timer only when an earlier deadline has come up.
    private func armTimer() {
        guard let deadline = timers.nearest, deadline < armed else { return }
        armed = deadline
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(clamping: deadline / 1_000_000_000)
        setting.it_value.tv_nsec = Int(deadline % 1_000_000_000)
        timerfd_settime(timerDescriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    private func fireTimers() {
        var count: UInt64 = 0
        _ = read(timerDescriptor, &count, 8)
        armed = .max
        for source in timers.takeDue(Self.now()) {
            source.fire()
        }
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private func readSignals() {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while read(signalDescriptor, &information, size) == size {
            let number = Int32(truncatingIfNeeded: information.ssi_signo)
            for signal in signals where signal.number == number {
                signal.source.body?()
            }
        }
    }
}

extension Duration {
    /// Whole nanoseconds: 0 when negative, the largest number when there are too many.
    var nanoseconds: UInt64 {
        let parts = components
        guard parts.seconds >= 0, parts.attoseconds >= 0 else { return 0 }
        let (high, overflow) = UInt64(parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = high.addingReportingOverflow(
            UInt64(parts.attoseconds) / 1_000_000_000
        )
        return overflow || carry ? .max : sum
    }
}
