import CLinux
import CSystemd
import Glibc
import Linux

/// The sources of the loop: connections, timers, descriptors and signals.
@BusActor
final class EventSources {
    static let shared = EventSources()

    private var connections: [Connection] = []
    private var watches: [(descriptor: Int32, source: EventSource)] = []
    private var signals: [(number: Int32, source: EventSource)] = []
    private var timers = TimerQueue()
    /// The kernel's list of descriptors (epoll).
    ///
    /// poll(2) would need a list for each wait.
    private var poller: Int32
    /// The events that the kernel watches, by descriptor.
    private var interest: [Int32: UInt32] = [:]
    private var ready = [epoll_event](repeating: epoll_event(), count: 16)
    private var signalDescriptor: Int32 = -1
    // SAFETY: set to the loop's thread before the signal handler that reads it is installed.
    fileprivate nonisolated(unsafe) static var loopThread = pthread_t()
    let timerDescriptor: Int32
    /// The deadline of the timer descriptor; `.max` if it is not set.
    private var armed = UInt64.max
    /// Called when the loop has been idle for ``restAfter``, once until the next event.
    var onRest: (@BusActor () -> Void)?
    private var hasRested = false
    /// Counts events from outside: messages and waits.
    ///
    /// While the count stays equal, all work is a consequence of earlier events.
    private(set) var inputCount: UInt64 = 0
    /// In milliseconds: longer than the pauses of a caller with several calls in a row.
    var restAfter: Int32 = 5000

    init() {
        timerDescriptor = timerfd_create(
            CLOCK_BOOTTIME,
            Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK)
        )
        if timerDescriptor < 0 { exitForLackOf("a timer", errno) }
        poller = epoll_create1(Int32(EPOLL_CLOEXEC))
        if poller < 0 { exitForLackOf("a list of descriptors", errno) }
        updateInterest(timerDescriptor)
    }

    // MARK: Sources

    func add(_ connection: Connection) {
        connections.append(connection)
        interest[connection.descriptor] = nil
    }

    func remove(_ connection: Connection) {
        connections.removeAll { $0 === connection }
        updateInterest(connection.descriptor, for: 0)
    }

    func addTimer(after duration: Duration, _ body: @escaping @BusActor () -> Void) -> EventSource {
        let source = EventSource(body: body) { self.timers.noteCanceled() }
        let now = UInt64(Boot.nanoseconds())
        let (deadline, overflow) = now.addingReportingOverflow(duration.nanoseconds)
        timers.insert(source, at: overflow ? .max : deadline)
        return source
    }

    func addWatch(_ descriptor: Int32, _ body: @escaping @BusActor () -> Void) -> EventSource {
        let box = SourceBox()
        let source = EventSource(body: body) {
            self.watches.removeAll { $0.source === box.source }
            let isWatched = self.watches.contains { $0.descriptor == descriptor }
            if !isWatched { self.updateInterest(descriptor, for: 0) }
        }
        box.source = source
        watches.append((descriptor, source))
        // The number may belong to a former descriptor that was closed without being canceled.
        interest[descriptor] = nil
        updateInterest(descriptor)
        return source
    }

    func addSignal(_ number: Int32, _ body: @escaping @BusActor () -> Void) -> EventSource {
        let box = SourceBox()
        let source = EventSource(body: body) {
            self.signals.removeAll { $0.source === box.source }
            self.updateSignalMask()
        }
        box.source = source
        signals.append((number, source))
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, number)
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
        // A library that started threads before `main`, as OpenBLAS does, did not block the signal
        // there. If the kernel chooses that thread, the handler passes the signal on.
        Self.loopThread = pthread_self()
        signal(number, passOn)
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
        if descriptor < 0 { exitForLackOf("a signal descriptor", errno) }
        signalDescriptor = descriptor
        updateInterest(descriptor)
    }

    // MARK: Serving

    /// Processes a message of each connection, and returns whether there was any.
    func processConnections() -> Bool {
        var isBusy = false
        // Iterates by index, because a message may add or close a connection.
        var index = 0
        while index < connections.count {
            let connection = connections[index]
            isBusy = connection.processOne() || isBusy
            index += 1
        }
        return isBusy
    }

    /// Counts a received message.
    func noteMessage() { inputCount &+= 1 }

    /// Readable when any source of ``wait(_:isBusy:)`` is ready.
    var descriptor: Int32 { poller }

    /// Updates the kernel's list and timer.
    ///
    /// - Returns: The longest wait in milliseconds; -1 to wait for ever.
    func prepare(_ wake: Int32) -> Int32 {
        armTimer()
        updateInterest(wake)
        for connection in connections {
            updateInterest(
                connection.descriptor,
                for: UInt32(UInt16(bitPattern: connection.pollEvents))
            )
        }
        return waitTimeout()
    }

    /// Waits for an event, unless there is more work, and serves all sources but connections.
    ///
    /// Returns whether `wake` was written to.
    func wait(_ wake: Int32, isBusy: Bool) -> Bool {
        inputCount &+= 1
        let longest = prepare(wake)
        var limit = isBusy ? 0 : longest
        let maySleep = !isBusy && onRest != nil && !hasRested && !(0..<restAfter ~= limit)
        if maySleep { limit = restAfter }
        let count = Int(epoll_wait(poller, &ready, Int32(ready.count), limit))
        guard count > 0 else {
            if maySleep, count == 0 {
                hasRested = true
                onRest?()
            }
            return false
        }
        hasRested = false
        // Collected first: the served sources may add and remove watches.
        var fired: [EventSource] = []
        var (isWoken, isDue, isSignaled, isStrange) = (false, false, false, false)
        for index in 0..<count {
            let descriptor = ready[index].data.fd
            if descriptor == wake { isWoken = true }
            if descriptor == timerDescriptor { isDue = true }
            if descriptor == signalDescriptor { isSignaled = true }
            if interest[descriptor] == nil { isStrange = true }
            for watch in watches where watch.descriptor == descriptor { fired.append(watch.source) }
        }
        if isStrange { renewPoller() }
        if isDue { fireTimers() }
        if isSignaled { readSignals() }
        for source in fired { source.body?() }
        return isWoken
    }

    /// Updates the kernel's list if the events of a descriptor differ; 0 removes the descriptor.
    private func updateInterest(_ descriptor: Int32, for events: UInt32 = EPOLLIN.rawValue) {
        let before = interest[descriptor]
        guard events != before ?? 0 else { return }
        interest[descriptor] = events == 0 ? nil : events
        var event = epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        let change = events == 0 ? EPOLL_CTL_DEL : before == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        guard epoll_ctl(poller, Int32(change), descriptor, &event) < 0 else { return }
        let other = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        if events != 0 { epoll_ctl(poller, Int32(other), descriptor, &event) }
    }

    /// Starts a new list when the kernel reports a descriptor that has no watch.
    ///
    /// The descriptor was closed before it was canceled, and a copy in another process keeps it
    /// open. The old list can therefore not drop it.
    private func renewPoller() {
        close(poller)
        poller = epoll_create1(Int32(EPOLL_CLOEXEC))
        if poller < 0 { exitForLackOf("a list of descriptors", errno) }
        let wanted = interest
        interest = [:]
        for (descriptor, events) in wanted { updateInterest(descriptor, for: events) }
    }

    /// In milliseconds.
    ///
    /// sd-bus has a deadline of its own only while it authenticates.
    private func waitTimeout() -> Int32 {
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

    /// Sets the kernel's timer only for an earlier deadline, which saves system calls.
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
        for source in timers.takeDue(UInt64(Boot.nanoseconds())) {
            source.fire()
        }
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
    /// Whole nanoseconds, clamped to the range of `UInt64`.
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

/// Passes a signal on to the loop's thread; a closure would belong to the loop's actor.
private func passOn(_ number: Int32) { pthread_kill(EventSources.loopThread, number) }
