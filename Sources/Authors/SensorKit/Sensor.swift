public import DBus
public import LocalAuthBus

@_exported public import enum Contract.BiometryType
@_exported public import enum Contract.SensorHint
@_exported public import enum Contract.Strength
@_exported public import enum Contract.Unavailability

/// A driver for a sensor; ``SensorProgram`` turns it into a process on the bus.
///
/// Methods run on the loop's thread and must never block; blocking work belongs on the driver's own
/// threads. Operations never overlap with each other. All other calls may arrive during an
/// operation.
@BusActor public protocol Sensor: AnyObject {
    /// The last element of the bus name: letters, digits and `_`, at most 64.
    var name: String { get }
    /// The current properties.
    var properties: SensorProperties { get }
    /// The current health.
    var health: SensorHealth { get }
    /// Further D-Bus interfaces of the sensor's object.
    var interfaces: [any ServedInterface] { get }

    /// Looks until a template matches, the operation is canceled, or a fault occurs.
    ///
    /// The driver reports each miss with ``SensorOperation/noMatch()``, and must not look again
    /// until that call returns.
    ///
    /// - Returns: The id of the matching template.
    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String
    /// Enrols the operation's user; the kit has checked the label and the number of templates.
    ///
    /// - Returns: The id of the new template.
    func enroll(_ operation: SensorOperation, label: String) async throws(SensorFault) -> String
    /// Lists a user's templates, oldest first.
    func templates(of user: UInt32) async throws(SensorFault) -> [Template]
    /// Changes a template's label; throws ``SensorFault/noTemplates`` for an unknown id.
    func rename(_ id: String, of user: UInt32, to label: String) async throws(SensorFault)
    /// Deletes a template permanently; throws ``SensorFault/noTemplates`` for an unknown id.
    func remove(_ id: String, of user: UInt32) async throws(SensorFault)
    /// Deletes all templates of a user and returns their number.
    func removeAll(of user: UInt32) async throws(SensorFault) -> UInt32
    /// Lists updates that confirmed matches added; see ``SensorOperation/whenConfirmed(_:)``.
    func templateUpdates(of user: UInt32) async throws(SensorFault) -> [LearnedEntry]
    /// Deletes an update permanently; throws ``SensorFault/noTemplates`` for an unknown id.
    func removeTemplateUpdate(_ id: String, of user: UInt32) async throws(SensorFault)
    /// Whether the process can exit without losing data; asked while idle if `--idle-timeout` is
    /// set.
    ///
    /// The bus starts the process again on demand.
    var mayEnd: Bool { get }
    /// Releases the hardware before the process exits; must return within a second.
    func stop() async
}

extension Sensor {
    public var health: SensorHealth { .ok }
    public var interfaces: [any ServedInterface] { [] }
    public func templateUpdates(of user: UInt32) async throws(SensorFault) -> [LearnedEntry] { [] }
    public func removeTemplateUpdate(_ id: String, of user: UInt32) async throws(SensorFault) {
        throw .noTemplates
    }
    /// The default suits drivers that keep all state on disk or in the hardware.
    public var mayEnd: Bool { true }
    public func stop() async {}
}

/// The properties of `org.localauth.Sensor1`.
public struct SensorProperties: Hashable, Sendable {
    public typealias BiometryType = Contract.BiometryType
    /// The resistance to spoofing.
    public typealias Strength = Contract.Strength

    /// Maker and model, for display.
    public var description: String
    public var biometryType: BiometryType
    /// The resistance to spoofing.
    public var strength: Strength
    public var isPresent = true
    /// The cause of the unavailability; nil if the sensor can be used.
    public var unavailability: Unavailability?
    /// The number of enrolment stages; -1 if unknown.
    public var enrollStages: Int32 = -1
    /// The maximum number of templates for a user; 0 for no limit.
    public var maximumTemplates: UInt32 = 0
    /// Instructions for the user by language (`en`, `de`, `zh_CN`), each at most 80 characters
    /// without a full stop.
    ///
    /// Without instructions, prompts use the text for the biometry type.
    public var instructions: [String: String] = [:]

    /// Describes a sensor that is present and usable.
    public init(description: String, biometryType: BiometryType, strength: Strength) {
        self.description = description
        self.biometryType = biometryType
        self.strength = strength
    }
}

/// The answer to Health.
public enum SensorHealth: Hashable, Sendable {
    case ok
    /// The sensor works in part; the text is a sentence for the user.
    case degraded(String)
    /// The sensor does not work; the text is a sentence for the user.
    case failed(String)
}

extension BiometryType {
    /// No biometry: a security key or a phone.
    public static var companion: Self { .none }
}
