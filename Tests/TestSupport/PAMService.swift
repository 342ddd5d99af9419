public import BusBench

/// The service files of `Tests/pam`, which take one passcode without a privilege.
public enum PAMService {
    /// The service that takes the passcode.
    public static let name = "localauth-test"
    /// What it takes.
    public static let passcode = "2468"

    /// Installs all of them in a folder.
    ///
    /// Their scripts are copied by another process: one that this one writes may be inherited by a
    /// program that starts at the same moment, and then it can't be run.
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
