internal import Dispatch
public import Foundation
internal import LocalAuthClient
internal import Security
internal import Synchronization

/// The mechanisms that could authenticate the user, and notifications about changes.
public final class LAEnvironment: NSObject, Sendable {
    /// Receives state changes on a private queue.
    ///
    /// Apple's protocol has an optional method; here the method has an empty default.
    public protocol Observer: NSObjectProtocol {
        /// Called after a change, when `environment.state` already is the new state.
        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        )
    }

    /// The environment of the user who runs this process.
    public static let currentUser = LAEnvironment()

    private struct WeakObserver {
        weak var observer: (any Observer)?
    }

    /// The observers, called in turn on a serial queue.
    ///
    /// SAFETY: observers need not be Sendable, so the compiler can't check this struct. A lock
    /// guards it.
    private struct Observers: @unchecked Sendable {
        var list: [WeakObserver] = []
        var streams: [UUID: AsyncStream<State>.Continuation] = [:]
        var last: EnvironmentReading?
    }

    private let observers = Mutex(Observers())
    private let watch = EnvironmentWatch()
    private let queue = DispatchQueue(label: "org.localauth.LocalAuthentication.environment")

    private override init() {
        super.init()
    }

    /// A snapshot of the current state.
    public var state: State {
        State(blocking(orElse: EnvironmentReading()) { await EnvironmentReading.now() })
    }

    /// Adds an observer, held by a weak reference.
    public func addObserver(_ observer: any Observer) {
        observers.withLock { $0.list.append(WeakObserver(observer: observer)) }
        start()
    }

    public func removeObserver(_ observer: any Observer) {
        observers.withLock { known in
            known.list.removeAll { $0.observer == nil || $0.observer === observer }
        }
    }

    /// A stream of new states.
    public var stateUpdates: AsyncStream<State> {
        let key = UUID()
        let (states, feed) = AsyncStream.makeStream(of: State.self)
        feed.onTermination = { [weak self] _ in
            self?.observers.withLock { $0.streams[key] = nil }
        }
        observers.withLock { $0.streams[key] = feed }
        start()
        return states
    }

    private func start() {
        let first = blocking(orElse: EnvironmentReading()) { await EnvironmentReading.now() }
        observers.withLock { if $0.last == nil { $0.last = first } }
        watch.start { [weak self] reading in self?.changed(reading) }
    }

    private func changed(_ reading: EnvironmentReading) {
        let old = observers.withLock { known in
            defer { known.last = reading }
            return known.last
        }
        guard let old, old != reading else { return }
        queue.async { [self] in
            let (observers, streams) = self.observers.withLock { known in
                known.list.removeAll { $0.observer == nil }
                return (known, known.streams.values.map(\.self))
            }
            for stream in streams { stream.yield(State(reading)) }
            for known in observers.list {
                known.observer?.environment(self, stateDidChangeFromOldState: State(old))
            }
        }
    }
}

extension LAEnvironment.Observer {
    /// Does nothing.
    public func environment(
        _ environment: LAEnvironment,
        stateDidChangeFromOldState oldState: LAEnvironment.State
    ) {}
}
