import AgentKit
import Glibc
import Linux
import Localization

extension DiagnosisLine {
    /// Whether this user's browsers can open the device of passkeys; empty without the broker.
    static func passkeys() -> [DiagnosisLine] {
        guard access("/run/localauth-passkey/broker", F_OK) == 0 else { return [] }
        let mark = "HID_PHYS=localauth-passkey/\(getuid())"
        let device = SmallFile.names(in: "/sys/class/hidraw")
            .first { name in
                let words = SmallFile.read("/sys/class/hidraw/\(name)/device/uevent", limit: 4096)
                return String(decoding: words ?? [], as: UTF8.self).split(separator: "\n")
                    .contains { $0 == mark }
            }
        if let device, access("/dev/\(device)", R_OK | W_OK) == 0 {
            let message = localized("Browsers find your passkeys (%1$s).", "/dev/\(device)")
            return [DiagnosisLine(name: "passkeys", state: "ok", message: message)]
        }
        return [
            DiagnosisLine(
                name: "passkeys",
                state: "warning",
                message: localized("Browsers can’t find your passkeys."),
                remedy: "systemctl --user enable --now localauth-passkey"
            )
        ]
    }
}
