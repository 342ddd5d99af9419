internal import Dispatch
public import Foundation
internal import LocalAuthClient
internal import Security
internal import Synchronization

/// What could authenticate a user now, and when that changes.
public final class LAEnvironment: NSObject, Sendable {
    /// Is told when the state changes, on a private queue.
    ///
    /// Its one method has an empty default: there are no optional methods here.
    public protocol Observer: NSObjectProtocol {
        /// Called after a change; `state` of the environment is the new one already.
        func environment(
            _ environment: LAEnvironment,
            stateDidChangeFromOldState oldState: LAEnvironment.State
        )
    }

    /// The user whose process this is.
    public static let currentUser = LAEnvironment()

    private struct WeakObserver {
        weak var observer: (any Observer)?
    }

    /// The observers are told on one queue, one after another.
    ///
    /// What is not Sendable here is the observers; the lock guards the list of them.
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

    /// What could authenticate the user now.
    public var state: State {
        State(blocking(orElse: EnvironmentReading()) { await EnvironmentReading.now() })
    }

    /// Tells an observer of changes from now on; it is not kept alive.
    public func addObserver(_ observer: any Observer) {
        observers.withLock { $0.list.append(WeakObserver(observer: observer)) }
        start()
    }

    /// Tells an observer no more.
    public func removeObserver(_ observer: any Observer) {
        observers.withLock { known in
            known.list.removeAll { $0.observer == nil || $0.observer === observer }
        }
    }

    /// Every new state, for code that awaits.
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
