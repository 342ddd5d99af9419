internal import DBus

extension AuthenticationOptions {
    /// The longest timeout that the service accepts.
    private static let longest = Duration.seconds(600)

    /// The options under their wire names, without options that have default values.
    ///
    /// - Throws: `systemCancel` for a timeout out of range.
    func wire() throws(AuthenticationError) -> [String: Variant] {
        var wire: [String: Variant] = [:]
        wire["fallback-title"] = fallbackTitle.map(Variant.string)
        wire["cancel-title"] = cancelTitle.map(Variant.string)
        if isInteractionNotAllowed { wire["interaction-not-allowed"] = .bool(true) }
        if reuseDuration != .zero {
            wire["reuse-duration"] = .double(max(0, reuseDuration / .seconds(1)))
        }
        if let timeout {
            guard timeout > .zero, timeout <= Self.longest else {
                throw AuthenticationError(
                    .systemCancel,
                    "A timeout is longer than nothing and at most 600 s."
                )
            }
            wire["timeout"] = .uint64(UInt64(max(1, (timeout / .milliseconds(1)).rounded(.up))))
        }
        wire["minimum-strength"] = minimumStrength.map { .string($0.rawValue) }
        wire["sensors"] = sensors.map(Variant.strings)
        wire["require-confirmation"] = requiresConfirmation.map(Variant.bool)
        wire["parent-window"] = parentWindow.map(Variant.string)
        return wire
    }
}

extension AuthenticationSuccess {
    init(_ result: [String: Variant]) {
        mechanism = result["mechanism"]?.asString.flatMap(Mechanism.init)
        biometryType = BiometryType(rawValue: result["biometry-type"]?.asUInt32 ?? 0) ?? .none
        sensor = result["sensor"]?.asString ?? ""
        strength = result["strength"]?.asString.flatMap(BiometryStrength.init)
        let state = result["domain-state"]?.asBytes ?? []
        domainState = state.isEmpty ? nil : state
    }
}
