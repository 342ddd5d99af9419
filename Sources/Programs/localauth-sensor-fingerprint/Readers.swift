import DBus
import Fingerprint
import Glibc
import Linux
import SensorKit
import ServiceProgram

/// All readers of this machine, and the sensor of each.
///
/// The first one is `Fingerprint`, the others have a number. A reader that is unplugged gets the
/// same name when it comes back, and when the sensor is started again.
@BusActor final class Readers {
    private(set) var labels: LabelFile
    /// The ids that templates have.
    var known: KnownPrints
    /// Whether it was said that they can't be written down.
    private var hasComplained = false
    /// By number, from 1 on.
    private var served: [Int: FingerprintSensor] = [:]
    private var sensors: [FingerprintSensor] { Array(served.values) }
    private var numbers: KnownReaders
    private let roster: SensorRoster
    private let system: Connection
    private var store: (process: Int32?, store: PrintStore)?
    private var isStarted = false
    private var isUpdating = false
    private var mustUpdate = false

    private(set) lazy var directory = ReaderDirectory(system) { [weak self] in
        onLoop { await self?.changed() }
    }
    private(set) lazy var sleep = SleepWatch(system) { [weak self] in
        for sensor in self?.sensors ?? [] { sensor.lookAround() }
    }
    private lazy var watch = FolderWatch { [weak self] in
        for sensor in self?.sensors ?? [] { sensor.printsChanged() }
    }

    /// How long the start waits for fprintd to list the readers.
    static let startPatience = Duration.seconds(2)
    /// Where labels are kept.
    static let stateFolder =
        StatePath.folder(system: "localauth-sensor-fingerprint", user: "localauth")
        ?? "/var/lib/localauth-sensor-fingerprint"

    init(_ roster: SensorRoster) throws {
        self.roster = roster
        guard let system = try? Connection(.system) else {
            throw StartError("the system bus, where fprintd is, can't be reached")
        }
        self.system = system
        do throws(SystemError) {
            labels = try LabelFile(folder: Self.stateFolder)
            known = try KnownPrints(folder: Self.stateFolder)
            numbers = try KnownReaders(folder: Self.stateFolder)
        } catch {
            throw StartError("\(error)")
        }
        system.onDisconnect {
            log(.error, "the connection to the system bus is lost")
            exit(EXIT_FAILURE)
        }
    }

    /// Serves the readers that exist, and `Fingerprint` in any case, which the bus can start.
    func start() async throws {
        _ = sleep
        let isKnown = ConditionVariable()
        var hasLooked = false
        onLoop {
            await self.directory.refresh()
            hasLooked = true
            isKnown.notifyAll()
        }
        _ = await isKnown.wait(atMost: Self.startPatience) { hasLooked }
        try await update()
        isStarted = true
        await changed()
    }

    private func changed() async {
        mustUpdate = true
        guard isStarted, !isUpdating else { return }
        isUpdating = true
        defer { isUpdating = false }
        while mustUpdate {
            mustUpdate = false
            do { try await update() } catch { log(.error, "a reader can't be served: \(error)") }
        }
    }

    /// Assigns a sensor to every reader.
    private func update() async throws {
        let readers = directory.readers
        let before = numbers
        var shown: [Int: FprintReader] = [:]
        for reader in readers {
            guard let number = numbers.number(of: reader.key, among: readers.map(\.key)) else {
                continue
            }
            shown[number] = reader
        }
        if numbers != before, !numbers.write() {
            log(.warning, "which sensor each reader is can't be written to \(Self.stateFolder)")
        }
        for (number, sensor) in served { sensor.show(shown[number]) }
        // First the one that the bus can start, also for a reader that isn't there.
        for number in 1...KnownReaders.most where served[number] == nil {
            guard number == 1 || shown[number] != nil else { continue }
            do {
                try await add(shown[number], number)
            } catch {
                guard number > 1 else { throw error }
                // The others are served all the same.
                log(.error, "a reader can't be served: \(error)")
            }
        }
    }

    private func add(_ reader: FprintReader?, _ number: Int) async throws {
        let name = "Fingerprint" + (number == 1 ? "" : String(number))
        var added: FingerprintSensor?
        try await roster.add { host in
            let sensor = FingerprintSensor(name, host: host, readers: self)
            sensor.show(reader)
            added = sensor
            return sensor
        }
        served[number] = added
    }

    // MARK: For the sensors

    /// The print files of the fprintd that runs, or ran last.
    var prints: PrintStore {
        if let store, store.process == directory.process { return store.store }
        let new = PrintStore(ofProcess: directory.process)
        store = (directory.process, new)
        return new
    }

    /// Writes down under which ids templates are listed; lists are asked for all the time, so that
    /// a failure is told once.
    func writeKnown() {
        let isWritten = known.write()
        if !isWritten, !hasComplained {
            log(.warning, "template ids can't be written to \(Self.stateFolder)")
        }
        hasComplained = !isWritten
    }

    func watchPrints(of user: String) {
        for folder in prints.folders(of: user) { watch.add(folder) }
    }

    func keep(_ label: String, of id: String, uid: UInt32, sensor: String, _ ids: [String]) -> Bool
    {
        labels.set(label, of: id, uid: uid, sensor: sensor, keeping: ids)
    }

    func rename(
        _ id: String,
        to label: String,
        uid: UInt32,
        sensor: String,
        _ ids: [String]
    ) -> Bool {
        labels.rename(id, to: label, uid: uid, sensor: sensor, keeping: ids)
    }
}
