import AuthEngine
import AuthStore
import DBus

/// Announces changes that are visible to clients, with a limit for each second.
@BusActor
final class SensorAnnouncer {
    private var announced: SensorAppearance?
    private var allowance = Allowance(limit: 20)
    private var timer: EventSource?
    private let changed: @BusActor () -> Void

    init(changed: @escaping @BusActor () -> Void) {
        self.changed = changed
    }

    /// Announces an appearance that differs from the last.
    ///
    /// A sensor that falls asleep or wakes up does not change its appearance. If it did, programs
    /// that query it after each announcement would keep it awake for ever.
    func tell(_ appearance: SensorAppearance) {
        guard announced != appearance else { return }
        announced = appearance
        announce()
    }

    /// Announces a change immediately, or together with others after the limit is reached.
    func announce() {
        guard timer == nil else { return }
        guard !allowance.take(at: Instant.now()) else { return changed() }
        timer = EventLoop.shared.schedule(after: .seconds(1)) { [weak self] in
            guard let self else { return }
            timer = nil
            changed()
        }
    }
}
