import AgentKit
import ArgumentParser
import DBus
import Glibc
import Linux
import Localization
import Sealing

struct SecretOutput: ParsableArguments {
    @Option(
        help: ArgumentHelp(localized("Write into this new file."), valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Flag(help: ArgumentHelp(localized("Write JSON, with the bytes in Base64.")))
    var json = false

    func validate() throws {
        guard output == nil || !json else {
            throw ValidationError(localized("Choose --output or --json."))
        }
    }

    /// Opens the output, then writes the secret that `secret` returns.
    @BusActor func receive(_ secret: @BusActor () async throws -> SecretBytes) async throws {
        let file = try open()
        do {
            try write(try await secret(), to: file, "secret")
        } catch {
            discard()
            throw error
        }
    }

    /// Writes public bytes: unchanged into a file, else as Base64.
    func write(_ bytes: [UInt8], named name: String) throws {
        guard output != nil else {
            let text = Base64.text(bytes)
            print(json ? JSON.object([(name, .string(text))]).text : text)
            return
        }
        try write(SecretBytes(bytes), to: open(), name)
    }

    private func write(
        _ secret: SecretBytes,
        to file: OwnedDescriptor?,
        _ name: String
    ) throws(Failure) {
        let target = file ?? OwnedDescriptor(adopting: dup(STDOUT_FILENO))
        var isWritten: Bool
        if json {
            let text = secret.use { SecretBytes(Base64.encode($0[...])) }
            isWritten =
                say("{\"\(name)\": \"", target) && text.use(target.write) && say("\"}\n", target)
        } else {
            isWritten = secret.use(target.write)
            // Add a line break on a terminal; a pipe gets the bytes alone.
            if file == nil, isatty(target.rawValue) == 1 {
                isWritten = say("\n", target) && isWritten
            }
        }
        if let file { isWritten = fsync(file.rawValue) == 0 && isWritten }
        guard isWritten else { throw Self.unwritable(output) }
    }

    /// Creates the file with mode 0600; an existing file is never overwritten.
    private func open() throws(Failure) -> OwnedDescriptor? {
        guard let output else { return nil }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = Glibc.open(output, flags, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(output) }
        return OwnedDescriptor(adopting: descriptor)
    }

    /// Removes the file created for a secret that did not arrive.
    private func discard() {
        if let output { unlink(output) }
    }

    private func say(_ text: String, _ target: OwnedDescriptor) -> Bool {
        target.write(Array(text.utf8))
    }

    private static func unwritable(_ file: String?) -> Failure {
        let reason = String(cString: strerror(errno))
        let shown = file.map { plainText($0, limit: 256) } ?? localized("Standard output")
        return Failure(
            .refused,
            localized("%1$s can't be written: %2$s", shown, reason),
            hint: localized("--output with a new file in a folder of yours")
        )
    }
}
