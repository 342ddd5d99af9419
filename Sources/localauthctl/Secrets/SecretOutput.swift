import AgentKit
import ArgumentParser
import DBus
import Glibc
import Linux
import Localization

/// Where a secret goes.
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

    /// Creates a socket pair, passes one end to `fill`, and writes the secret that arrives.
    @BusActor func receive(
        _ fill: @BusActor (OwnedDescriptor) async throws -> Void
    ) async throws {
        let pair = try SocketPair.make()
        let file = try open()
        do {
            try await fill(pair.theirs)
            let buffer = SecretBuffer(capacity: SecretBuffer.limit)
            try write(buffer, buffer.receive(from: pair.ours.rawValue), to: file, "secret")
        } catch {
            discard()
            throw error
        }
    }

    /// Writes bytes that are not secret: unchanged into a file, else as Base64.
    func write(_ bytes: [UInt8], named name: String) throws {
        guard output != nil else {
            let text = Base64.text(bytes)
            print(json ? JSON.object([(name, .string(text))]).text : text)
            return
        }
        try write(SecretBuffer(bytes), bytes.count, to: open(), name)
    }

    private func write(
        _ buffer: SecretBuffer,
        _ count: Int,
        to file: OwnedDescriptor?,
        _ name: String
    ) throws(Failure) {
        let target = file?.rawValue ?? STDOUT_FILENO
        var isWritten: Bool
        if json {
            let text = SecretBuffer(Base64.encode(buffer.bytes[..<count]))
            isWritten =
                say("{\"\(name)\": \"", target) && text.write(text.bytes.count, to: target)
                && say("\"}\n", target)
        } else {
            isWritten = buffer.write(count, to: target)
            // A line break on a terminal; a pipe gets the bytes alone.
            if file == nil, isatty(target) == 1 { isWritten = say("\n", target) && isWritten }
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

    /// Removes the file that was created for a secret that did not arrive.
    private func discard() {
        if let output { unlink(output) }
    }

    private func say(_ text: String, _ descriptor: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
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

extension OwnedDescriptor {
    /// An item's own password, in sealed memory.
    static func secret(file: String) async throws -> OwnedDescriptor {
        try await SecretInput.sealed(
            file,
            label: localized("Password of the item:"),
            option: "--password-file"
        )
    }
}
