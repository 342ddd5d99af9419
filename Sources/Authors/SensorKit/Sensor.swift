public import DBus
public import LocalAuthBus

@_exported public import enum Contract.BiometryType
@_exported public import enum Contract.SensorHint
@_exported public import enum Contract.Strength
@_exported public import enum Contract.Unavailability

/// A driver of one sensor; ``SensorProgram`` makes a process of the bus out of it.
///
/// Its methods run on the loop's thread and must never block it: what blocks belongs on a thread
/// of the driver's own. Calls of one operation never overlap with another; everything else may
/// be called while an operation runs.
@BusActor public protocol Sensor: AnyObject {
    /// The last element of its bus name: letters, digits and `_`, at most 64.
    var name: String { get }
    /// What the sensor is at this moment.
    var properties: SensorProperties { get }
    /// How the sensor is at this moment.
    var health: SensorHealth { get }
    /// Further interfaces of the sensor's object.
    var interfaces: [any ServedInterface] { get }

    /// Looks for a match until one comes, the operation is canceled, or a fault.
    ///
    /// Each failed attempt is told with ``SensorOperation/noMatch()``, and nothing is looked at
    /// until that returns.
    ///
    /// - Returns: The id of the template that matched.
    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String
    /// Enrols the operation's user; the kit has checked the label and the number of templates.
    ///
    /// - Returns: The id of the new template.
    func enroll(_ operation: SensorOperation, label: String) async throws(SensorFault) -> String
    /// What is enrolled for a user, the oldest first.
    func templates(of user: UInt32) async throws(SensorFault) -> [Template]
    /// Gives a template another label. Unknown: ``SensorFault/noTemplates``.
    func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault)
    /// Removes a template for good. Unknown: ``SensorFault/noTemplates``.
    func remove(_ id: String, of user: UInt32) async throws(SensorFault)
    /// Removes all templates of a user and says how many there were.
    func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32
    /// What was learned of a user since the enrolment; see ``SensorOperation/whenConfirmed(_:)``.
    func learned(of user: UInt32) async throws(SensorFault) -> [LearnedEntry]
    /// Removes something that was learned for good. Unknown: ``SensorFault/noTemplates``.
    func removeLearned(_ id: String, of user: UInt32) async throws(SensorFault)
    /// Whether nothing would be lost if the process ended now: asked when it is idle, and the
    /// option `--idle-timeout` was given. The bus starts it again when it is needed.
    var mayEnd: Bool { get }
    /// Releases the hardware, because the process ends. It has less than a second.
    func stop() async
}

extension Sensor {
    /// A sensor that doesn't implement this is healthy.
    public var health: SensorHealth { .ok }
    /// No further interfaces.
    public var interfaces: [any ServedInterface] { [] }
    /// A sensor that doesn't learn has learned nothing.
    public func learned(of user: UInt32) async throws(SensorFault) -> [LearnedEntry] { [] }
    /// A sensor that doesn't learn has learned nothing.
    public func removeLearned(_ id: String, of user: UInt32) async throws(SensorFault) {
        throw .noTemplates
    }
    /// Whatever counts is on the disk or in the hardware.
    public var mayEnd: Bool { true }
    /// Nothing to let go of.
    public func stop() async {}
}

/// What a sensor is: the properties of `org.localauth.Sensor1`.
public struct SensorProperties: Hashable, Sendable {
    /// What it looks at.
    public typealias BiometryType = Contract.BiometryType
    /// How hard it is to fool.
    public typealias Strength = Contract.Strength

    /// Maker and model, for people.
    public var description: String
    /// What it looks at.
    public var biometryType: BiometryType
    /// How hard it is to fool.
    public var strength: Strength
    /// Whether the hardware is there.
    public var isPresent = true
    /// Why it can't be used; nil when it can.
    public var unavailability: Unavailability?
    /// Stages of an enrolment; -1: unknown.
    public var enrollStages: Int32 = -1
    /// Templates that it holds for one user; 0: no limit.
    public var maximumTemplates: UInt32 = 0
    /// What a person is asked to do, by language (`en`, `de`, `zh_CN`), in at most 80 characters
    /// without a full stop; empty: what the biometry type says.
    public var instructions: [String: String] = [:]

    /// A sensor that is there and usable.
    public init(description: String, biometryType: BiometryType, strength: Strength) {
        self.description = description
        self.biometryType = biometryType
        self.strength = strength
    }
}

/// The answer to Health.
public enum SensorHealth: Hashable, Sendable {
    /// Works.
    case ok
    /// Works in part; one sentence for people.
    case degraded(String)
    /// Does not work; one sentence for people.
    case failed(String)
}

extension BiometryType {
    /// No biometry: a security key, a phone.
    public static var companion: Self { .none }
}
