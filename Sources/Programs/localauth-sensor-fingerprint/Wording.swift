import Fingerprint
import SensorKit

extension FprintFault {
    var text: String {
        switch self {
        case .inUse: "Another program uses the fingerprint reader."
        case .gone: "The fingerprint reader is not connected."
        case .lost: "fprintd ended, or can't be started: is it installed?"
        case .denied:
            "polkit doesn't let the fingerprint sensor do that: an administrator allows it with "
                + "the rule 50-localauth-fingerprint.rules, see localauth-sensor-fingerprint(1)."
        case .noPrints: "No finger of this user is enrolled."
        case .duplicate: "This finger is enrolled already."
        case .full: "The reader has no room for another print."
        case .silent: "fprintd does not answer."
        case .canceled: "The operation was canceled."
        case .failed(let message): message
        }
    }
}

extension SensorFault {
    init(_ fault: FprintFault) {
        self =
            switch fault {
            case .inUse: .inUse(fault.text)
            case .gone: .disconnected
            case .noPrints: .noTemplates
            case .canceled: .canceled
            case .duplicate: .duplicate
            case .full: .full
            case .denied: .denied(fault.text)
            case .lost, .silent, .failed: .failed(fault.text)
            }
    }
}

extension ScanStatus {
    /// The hint for a scan that has to be repeated; nil when there is none.
    var hint: SensorHint? {
        switch result {
        case .retryScan, .removeAndRetry: .liftAndRetry
        case .swipeTooShort: .swipeTooShort
        case .tooFast: .tooFast
        case .notCentered: .center
        case .match, .noMatch, .completed, .failed, .stagePassed, .full, .duplicate, .disconnected,
            .unknown:
            nil
        }
    }

    var fault: FprintFault {
        switch result {
        case .duplicate: .duplicate
        case .full: .full
        case .disconnected: .gone
        default: .failed("fprintd could not enrol the finger.")
        }
    }
}
