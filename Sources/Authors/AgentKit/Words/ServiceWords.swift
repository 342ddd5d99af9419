package import DBus
package import LocalAuthBus
package import LocalAuthClient
internal import Localization

// Translations of words from the bus; words unknown to this version stay unchanged.

/// A sentence of the service in the user's language; an unknown sentence stays unchanged.
///
/// The service answers in English, for the sake of its logs.
package func serviceText(_ sentence: String) -> String {
    translation(of: sentence, like: servicePatterns)
}

/// A kind of sensor: 0 companion, 1 fingerprint, 2 face, 4 iris.
package func biometryTitle(_ type: UInt32) -> String {
    switch BiometryType(rawValue: type) {
    case BiometryType.none?: localized("companion")
    case .fingerprint: localized("fingerprint")
    case .face: localized("face")
    case .iris: localized("iris")
    case nil: localized("unknown")
    }
}

package func strengthTitle(_ strength: String) -> String {
    switch Strength(rawValue: strength) {
    case .strong: localized("strong")
    case .weak: localized("weak")
    case .convenience: localized("convenience")
    case nil: strength
    }
}

/// The mechanism that granted an evaluation.
package func mechanismTitle(_ mechanism: String) -> String {
    switch Mechanism(rawValue: mechanism) {
    case .biometry: localized("biometry")
    case .passcode: localized("password")
    case .companion: localized("companion")
    case .reuse: localized("an earlier unlock")
    case .context: localized("an earlier evaluation")
    case .applicationPassword, nil: mechanism
    }
}

package func unavailabilityTitle(_ word: String) -> String {
    switch Unavailability(rawValue: word) {
    case .noHardware: localized("no device")
    case .starting: localized("still starting")
    case .lidClosed: localized("lid closed")
    case .suspended: localized("suspended")
    case .crashed: localized("crashed")
    case .failed: localized("failed")
    case .incompatible: localized("incompatible")
    case .untrusted: localized("not trusted")
    case .remoteSession: localized("remote session")
    case nil: word
    }
}

/// A sentence about the mechanism and sensor that granted an evaluation.
package func grantedSentence(_ result: [String: Variant]) -> String {
    let text = { (key: String) in plainText(result[key]?.asString ?? "", limit: 64) }
    let parts = [text("sensor"), strengthTitle(text("strength"))].filter { !$0.isEmpty }
    let title = mechanismTitle(text("mechanism"))
    return parts.isEmpty
        ? localized("Yes: %1$s.", title)
        : localized("Yes: %1$s (%2$s).", title, parts.joined(separator: ", "))
}

/// The sensors' own instructions by name; sensors without instructions are left out.
package func instructions(of sensors: [RemoteSensor]) -> [String: String] {
    let own = sensors.map { ($0.name, ownWords($0.instructions)) }
    return Dictionary(own) { first, _ in first }.compactMapValues(\.self)
}

/// A sentence about an event during enrolment; nil for an event without text.
package func enrollingSentence(
    _ event: StreamEvent,
    of sensor: RemoteSensor
) -> String? {
    let (type, stages) = (sensor.biometryType, sensor.enrollStages)
    let own = ownWords(sensor.instructions)
    switch SensorEventKind(rawValue: event.kind) {
    case .stage:
        guard let stage = event.detail["stage"]?.asUInt32 else { return nil }
        let stages = event.detail["stages"]?.asInt32 ?? -1
        guard stages > 0 else {
            return localized("Again. Steps done so far: %1$s.", "\(stage)")
        }
        guard stage < stages else { return localized("The last of %1$s is done.", "\(stages)") }
        return PromptText.turn(type, own, Int(stage) + 1, of: Int(stages))
    case .busy:
        let program = plainText(event.detail["by"]?.asString ?? "", limit: 64)
        return PromptText.sentence(
            .sensorBusy(sensor: sensor.name, biometryType: type, by: program)
        )
    case .ready where stages > 0:
        return PromptText.turn(type, own, 1, of: Int(stages))
    case .ready:
        return PromptText.sentence(
            .sensorReady(sensor: sensor.name, biometryType: type),
            instructions: instructions(of: [sensor])
        )
    default:
        return PromptProgress(kind: event.kind, detail: event.detail)
            .flatMap(PromptText.sentence)
    }
}
