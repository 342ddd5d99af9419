/// A sentence of the contract, with its place.
public struct ContractLine: Hashable, Sendable, CustomStringConvertible {
    /// An interface of `dbus/*.xml`, optionally with a member, or a page of `docs`.
    public let place: String
    /// The quoted sentence, or the part of it that counts.
    public let text: String
    public var description: String { "\(place): \(text)" }

    private init(place: String, _ text: String) {
        (self.place, self.text) = (place, text)
    }

    /// A line about all sensors.
    static func sensor(_ text: String) -> Self { Self(place: "org.localauth.Sensor1", text) }

    /// A line about a member of Sensor1.
    static func sensor(_ member: String, _ text: String) -> Self {
        Self(place: "org.localauth.Sensor1.\(member)", text)
    }

    /// A line about the call that reports a miss.
    static func noMatch(_ text: String) -> Self {
        Self(place: "org.localauth.SensorHost1.NoMatch", text)
    }

    /// A line about a sensor's process.
    static func process(_ text: String) -> Self { Self(place: "docs/sensors/guide.md", text) }
}

/// Lines about prompts.
extension ContractLine {
    /// A line about all prompts.
    static func prompt(_ text: String) -> Self { Self(place: "org.localauth.Agent1", text) }

    /// A line about a member of Agent1.
    static func prompt(_ member: String, _ text: String) -> Self {
        Self(place: "org.localauth.Agent1.\(member)", text)
    }

    /// A line about a member of the service.
    static func service(_ member: String, _ text: String) -> Self {
        Self(place: "org.localauth.Authentication1.\(member)", text)
    }

    /// A line about a prompt's process.
    static func asking(_ text: String) -> Self { Self(place: "docs/sensors/prompts.md", text) }
}

/// Lines that several checks verify.
extension ContractLine {
    static let notOwner = sensor(
        "Methods answer `org.freedesktop.DBus.Error.AccessDenied` to callers that do not own "
            + "`org.localauth.Authentication1`"
    )
    static let bounds = sensor("A label and an id have at most 256 bytes, and 4294967295 is no uid")
    static let malformed = process("answers a malformed call with an error, and goes on")
    static let nothingEnrolled = sensor("Verify", "`NoTemplates` for a user without templates")
    static let newData = sensor(
        "ListTemplates",
        "The id must change whenever the biometric data behind it changes."
    )
    static let kept = process("Enrolled templates outlive the process")
    static let canceled = sensor("Cancel", "Ends an operation")
    static let early = sensor("Cancel", "remembers a Cancel that comes before its operation")
    static let unknown = sensor(
        "Cancel",
        "For an operation that is over or unknown the call does nothing."
    )
    static let ended = process("ends with status 0 within a second of SIGTERM")
}
