import DBus
import Linux
import SecurityKey
import SensorKit

/// Queries all connected security keys at once until one is touched, then stops the others.
///
/// Keys connected during the round take part too.
@BusActor final class KeyRound {
    struct Touch: Sendable {
        let place: KeyPlace
        /// The credential made or used; nil when the key's answer proves nothing.
        let credential: Credential?
        let objection: String?
    }

    typealias Ask =
        @Sendable (SecurityKey, EventDescriptor, @escaping @Sendable () -> Void) async
        -> Result<Credential, KeyFault>

    private let sensor: KeySensor
    private let operation: SensorOperation
    private let only: KeyPlace?
    private let ask: Ask
    /// The descriptor that stops each running query.
    private var asked: [KeyPlace: EventDescriptor] = [:]
    /// Keys to query again after ``rest``.
    private var resting: Set<KeyPlace> = []
    /// Keys that take no further part, with the fault; nil: the key has no credential of the user.
    private var excludedKeys: [KeyPlace: SensorFault?] = [:]
    private var timeoutCounts: [KeyPlace: Int] = [:]
    private var touch: Touch?
    private var isOver = false

    /// Pause before a key is queried again after it gave up or was busy.
    private static let rest = Duration.milliseconds(250)
    /// Timeouts after which a key is given up.
    private static let mostSilences = 2

    /// `only`: restricts the round to one key.
    init(
        _ sensor: KeySensor,
        _ operation: SensorOperation,
        only: KeyPlace? = nil,
        _ ask: @escaping Ask
    ) {
        self.sensor = sensor
        self.operation = operation
        self.only = only
        self.ask = ask
        operation.onCancel { sensor.changes.notifyAll() }
    }

    /// Waits until a key was touched and all queries have ended.
    func run() async throws(SensorFault) -> Touch {
        let end = await end()
        isOver = true
        for stop in asked.values { stop.signal() }
        while !asked.isEmpty { await sensor.changes.wait() }
        return try end.get()
    }

    private func end() async -> Result<Touch, SensorFault> {
        while true {
            if operation.isCanceled { return .failure(.canceled) }
            if let touch { return .success(touch) }
            let keys = sensor.keys.filter { only == nil || $0.key == only }
            guard !keys.isEmpty else { return .failure(.disconnected) }
            for (place, stop) in asked where keys[place] == nil { stop.signal() }
            excludedKeys = excludedKeys.filter { keys[$0.key] != nil }
            // Keys without a credential cause no failure: the right key may still be plugged in.
            let faults = excludedKeys.values.compactMap(\.self)
            if excludedKeys.count == keys.count, let fault = faults.first { return .failure(fault) }
            for (place, key) in keys { start(place, key) }
            if excludedKeys.count == keys.count { ready() }
            await sensor.changes.wait()
        }
    }

    private func start(_ place: KeyPlace, _ key: SecurityKey) {
        guard asked[place] == nil, excludedKeys[place] == nil, !resting.contains(place) else {
            return
        }
        let stop: EventDescriptor
        do throws(SystemError) {
            stop = try EventDescriptor()
        } catch {
            excludedKeys[place] = .some(.failed("\(error)"))
            sensor.changes.notifyAll()
            return
        }
        asked[place] = stop
        let ask = ask
        onLoop {
            let result = await ask(key, stop) { onLoop { self.waits() } }
            self.asked[place] = nil
            await self.hear(result, from: place)
            self.sensor.changes.notifyAll()
        }
    }

    private var isReady = false

    private func ready() {
        guard !isReady, !isOver else { return }
        isReady = true
        operation.ready()
    }

    /// Called when a key blinks.
    private func waits() {
        guard !isOver else { return }
        ready()
        operation.hint(.confirmPresence)
    }

    private func hear(_ result: Result<Credential, KeyFault>, from place: KeyPlace) async {
        switch result {
        case .success(let credential):
            touch = touch ?? Touch(place: place, credential: credential, objection: nil)
        case .failure(.invalidProof(let doubt)):
            touch = touch ?? Touch(place: place, credential: nil, objection: doubt)
        case .failure(.interrupted): break
        case .failure(.noCredential): excludedKeys[place] = .some(nil)
        case .failure(.enrolled): excludedKeys[place] = .some(.duplicate)
        case .failure(.full): excludedKeys[place] = .some(.full)
        case .failure(.failed(let sentence)): excludedKeys[place] = .some(.failed(sentence))
        case .failure(.busy):
            isReady = false
            operation.busy(by: FileHolder.all(of: [place.path]).first?.program ?? "")
            rest(place)
        case .failure(.gone):
            rest(place)
            await sensor.look()
        case .failure(.touchTimeout): rest(place)
        case .failure(.silent):
            timeoutCounts[place, default: 0] += 1
            if timeoutCounts[place, default: 0] < Self.mostSilences { return rest(place) }
            excludedKeys[place] = .some(
                .failed("The security key doesn't answer: unplug it and plug it in again.")
            )
        }
    }

    private func rest(_ place: KeyPlace) {
        resting.insert(place)
        _ = EventLoop.shared.schedule(after: Self.rest) {
            self.resting.remove(place)
            self.sensor.changes.notifyAll()
        }
    }
}
