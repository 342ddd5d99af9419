public import BusBench

/// The PAM services of `Tests/pam`, which accept a fixed password without privileges.
public enum PAMService {
    /// The service that accepts the password.
    public static let name = "localauth-test"
    /// The accepted password.
    public static let passcode = "2468"

    /// Installs all PAM files in a folder.
    ///
    /// Another process copies their scripts. A program started while this process writes a script
    /// would inherit the open file, and the script could not be executed.
    public static func install(in folder: String) throws(TestFailure) {
        let source =
            #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
            + "/pam"
        for name in TemporaryFolder.names(in: source) where name.hasPrefix("localauth-") {
            let bytes = try TemporaryFolder.read("\(source)/\(name)")
            let text = String(decoding: bytes, as: UTF8.self).replacing("@SCRIPTS@", with: folder)
            try TemporaryFolder.write("\(folder)/\(name)", text.utf8)
        }
        for script in ["check-passcode", "count-checks", "hang"] {
            let words = ["/usr/bin/install", "-m", "755", "\(source)/\(script)", folder]
            try expect(try ChildProcess.run(words).status == 0, "expected \(script) in \(folder)")
        }
    }
}
