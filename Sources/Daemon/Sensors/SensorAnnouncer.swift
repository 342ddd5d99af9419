import AuthEngine
import AuthStore
import DBus

/// Announces a sensor when others see it change, a bounded number of times a second.
@BusActor
final class SensorAnnouncer {
    /// The appearance that was announced last.
    private var told: SensorAppearance?
    private var allowance = Allowance(limit: 20)
    private var timer: EventSource?
    private let changed: @BusActor () -> Void

    init(changed: @escaping @BusActor () -> Void) {
        self.changed = changed
    }

    /// Announces another appearance.
    ///
    /// A sensor that falls asleep or wakes up unchanged has the same: a program that asked again
    /// because of it would wake the sensor for ever.
    func tell(_ appearance: SensorAppearance) {
        guard told != appearance else { return }
        told = appearance
        announce()
    }

    /// Announces a change, at once or together with others when the allowance is used up.
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
