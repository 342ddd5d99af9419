import Glibc
import Linux
import TestSupport
import Testing

@testable import DBus

@Suite(.runningLoop, .timeLimit(.minutes(10)))
struct LoopTests {
    @Test("Timers fire in the order of their deadlines, and canceled timers never")
    @BusActor
    func timers() async {
        var took = Duration.seconds(1)
        // Repeat if a delay of this process made the deadlines unequal.
        while took >= .milliseconds(100) {
            let fired = Collected<Int>()
            let start = ContinuousClock.now
            for number in [3, 1, 2] {
                let delay = Duration.milliseconds(100 * number)
                _ = EventLoop.shared.schedule(after: delay) { fired.add(number) }
            }
            EventLoop.shared.schedule(after: .zero) { fired.add(0) }.cancel()
            took = .now - start
            let numbers = await fired.first(3)
            #expect(numbers == [1, 2, 3] || took >= .milliseconds(100))
            #expect(!numbers.contains(0))
        }
    }

    @Test("Suspended time counts for timers")
    @BusActor
    func suspended() throws {
        let timer = EventSources.shared.timerDescriptor
        let facts = try TemporaryFolder.read("/proc/self/fdinfo/\(timer)")
        // CLOCK_BOOTTIME.
        #expect(String(decoding: facts, as: UTF8.self).contains("clockid: 7\n"))
    }

    @Test("Idleness is reported once, and again after the next event")
    @BusActor
    func rest() throws {
        let sources = EventSources()
        let wake = try EventDescriptor()
        sources.restAfter = 1
        var rests = 0
        sources.onRest = { rests += 1 }
        func wait(isBusy: Bool = false) -> Bool { sources.wait(wake.rawValue, isBusy: isBusy) }
        // A loop with work left neither waits nor counts as idle.
        #expect(!wait(isBusy: true))
        #expect(rests == 0)
        #expect(!wait())
        #expect(rests == 1)
        // A further wait would last for ever.
        wake.signal()
        #expect(wait())
        #expect(rests == 1)
        wake.clear()
        #expect(!wait())
        #expect(rests == 2)
        // A timer that is due before the idle time prevents the report.
        wake.signal()
        #expect(wait())
        wake.clear()
        sources.restAfter = 60_000
        let timer = sources.addTimer(after: .milliseconds(1)) {}
        #expect(!wait())
        #expect(rests == 2)
        timer.cancel()
    }

    @Test("L21: busy connections starve neither timers nor other threads")
    @BusActor
    func busyConnections() async throws {
        try await withPair { pair in
            var isOver = false
            // Each signal causes the next, for ever.
            let ends = [pair.server, pair.client]
            let echo = { @BusActor (end: Connection) in
                end.emit(
                    path: ExampleService.path,
                    interface: ExampleService.name,
                    member: "Echo",
                    to: end.uniqueName
                )
            }
            let subscriptions = ends.map { end in
                end.subscribe(
                    sender: end.uniqueName,
                    path: nil,
                    interface: ExampleService.name,
                    member: "Echo",
                    broadcast: false
                ) { _ in
                    if !isOver { echo(end) }
                }
            }
            defer { for subscription in subscriptions { subscription.cancel() } }
            for _ in 0..<64 { for end in ends { echo(end) } }
            await pause(.milliseconds(5))
            await Task.detached { await Task.yield() }.value
            isOver = true
        }
    }

    @Test("A thousand canceled timers leave the remaining timers alone")
    @BusActor
    func canceledTimers() async {
        let fired = Collected<Int>()
        let canceled = (0..<1000)
            .map { _ in
                EventLoop.shared.schedule(after: .seconds(60)) { fired.add(-1) }
            }
        _ = EventLoop.shared.schedule(after: .milliseconds(2)) { fired.add(1) }
        for source in canceled {
            source.cancel()
        }
        #expect(await fired.first(1) == [1])
    }

    @Test("A watched descriptor is reported as long as it is readable")
    @BusActor
    func watching() async throws {
        let file = try Files.holding([1, 2, 3])
        let seen = Collected<Int>()
        var byte: UInt8 = 0
        let source = EventLoop.shared.watch(descriptor: file.rawValue) {
            seen.add(read(file.rawValue, &byte, 1))
        }
        #expect(await seen.first(4) == [1, 1, 1, 0])
        source.cancel()
    }

    @Test("A released folder watch leaves no source on the loop")
    @BusActor
    func folders() throws {
        let folder = try TemporaryFolder()
        var watch: FolderWatch? = FolderWatch([folder.path]) {}
        weak let source = watch?.source
        #expect(source != nil)
        watch = nil
        #expect(source == nil)
    }

    @Test("A signal is reported on the loop, whichever thread the kernel chooses")
    @BusActor
    func signals() async {
        let seen = Signal()
        let source = EventLoop.shared.onSignal(SIGUSR2) { seen.set() }
        // The other threads of a test have not blocked the signal.
        kill(getpid(), SIGUSR2)
        await seen.wait()
        source.cancel()
    }

    @Test("A task stays on the loop's thread across every suspension")
    @BusActor
    func oneThread() async {
        let done = Signal()
        onLoop {
            let thread = pthread_self()
            await pause(.milliseconds(1))
            #expect(pthread_self() == thread)
            await Task.yield()
            #expect(pthread_self() == thread)
            await withCheckedContinuation { continuation in
                _ = EventLoop.shared.schedule(after: .zero) { continuation.resume() }
            }
            #expect(pthread_self() == thread)
            done.set()
        }
        await done.wait()
    }

    @Test("A pause ends early when its task is canceled")
    @BusActor
    func canceledPause() async {
        let done = Signal()
        let task = onLoop {
            await pause(.seconds(600))
            done.set()
        }
        task.cancel()
        await done.wait()
    }
}
