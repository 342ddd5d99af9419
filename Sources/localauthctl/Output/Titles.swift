import LocalAuthBus
import Localization

// Words of the bus, translated; words that this version doesn't know are shown unchanged.

/// A sentence of the service in the user's language; an unknown one stays as it is.
///
/// The service answers in English, which its logs need.
func serviceText(_ sentence: String) -> String {
    translation(of: sentence, like: servicePatterns)
}

func biometryTitle(_ type: UInt32) -> String {
    switch type {
    case 0: localized("companion")
    case 1: localized("fingerprint")
    case 2: localized("face")
    case 4: localized("iris")
    default: localized("unknown")
    }
}

func strengthTitle(_ strength: String) -> String {
    switch strength {
    case "strong": localized("strong")
    case "weak": localized("weak")
    case "convenience": localized("convenience")
    default: strength
    }
}

func mechanismTitle(_ mechanism: String) -> String {
    switch mechanism {
    case "biometry": localized("biometry")
    case "passcode": localized("passcode")
    case "companion": localized("companion")
    case "reuse": localized("an earlier unlock")
    case "context": localized("an earlier evaluation")
    default: mechanism
    }
}

/// Why a sensor can't be used.
func unavailabilityTitle(_ word: String) -> String {
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
