import DBus
import Fingerprint
import Glibc
import Linux
import SensorKit
import ServiceProgram

/// All readers of this machine, with a sensor each.
///
/// The first sensor is `Fingerprint`, the others have a number. A reader keeps its name across
/// unplugging and restarts.
@BusActor final class Readers {
    private(set) var labels: LabelFile
    var known: KnownPrints
    /// Whether a failure to write ids was logged.
    private var hasComplained = false
    /// By number, from 1.
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

    /// Time for fprintd to list the readers at start.
    static let startPatience = Duration.seconds(2)
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

    /// Serves the existing readers, and always `Fingerprint`, which the bus activates by name.
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
        // `Fingerprint` comes first and needs no reader, because the bus activates it.
        for number in 1...KnownReaders.most where served[number] == nil {
            guard number == 1 || shown[number] != nil else { continue }
            do {
                try await add(shown[number], number)
            } catch {
                guard number > 1 else { throw error }
                // Continue with the other readers.
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

    /// The print files of the current fprintd process, or of the last.
    var prints: PrintStore {
        if let store, store.process == directory.process { return store.store }
        let new = PrintStore(ofProcess: directory.process)
        store = (directory.process, new)
        return new
    }

    /// Saves the ids of templates.
    ///
    /// Lists are frequent, so a failure is logged once.
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
