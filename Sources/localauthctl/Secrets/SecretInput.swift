import AgentKit
import DBus
import Glibc
import Linux
import Localization

/// Where a secret is read from: a file, a pipe or the terminal, never the command line.
enum SecretInput {
    /// Reads a secret into a sealed memory file, the form in which the service takes secrets.
    ///
    /// Without a file the person is asked on the terminal with `label`; `-` is standard input.
    /// `option` is the option that the error names when there is no terminal.
    static func sealed(
        _ file: String?,
        label: String,
        option: String
    ) async throws -> OwnedDescriptor {
        let memory = try memory()
        if let file {
            let (buffer, count) = try read(file)
            guard buffer.write(count, to: memory.rawValue) else { throw Self.unusable }
        } else {
            try await ask(label, memory, option)
        }
        // Sealed, it can't change while the service reads it.
        guard SealedMemory.seal(memory) else { throw Self.unusable }
        return memory
    }

    /// Reads data of at most `limit` bytes, from standard input without a file or with `-`.
    static func read(
        _ file: String?,
        limit: Int = SecretBuffer.limit
    ) throws(Failure) -> (buffer: SecretBuffer, count: Int) {
        let isPipe = file == nil || file == "-"
        let descriptor = isPipe ? dup(STDIN_FILENO) : open(file ?? "-", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(file ?? "-") }
        defer { close(descriptor) }
        let buffer = SecretBuffer(capacity: limit + 1)
        let count = buffer.fill(from: descriptor)
        guard count >= 0 else { throw unreadable(file ?? "-") }
        guard count <= limit else {
            throw Failure(
                .refused,
                localized("%1$s has more than %2$s bytes.", shown(file ?? "-"), "\(limit)"),
                hint: localized("keep it in a file, and the key of that file here")
            )
        }
        return (buffer, count)
    }

    private static func ask(
        _ label: String,
        _ memory: OwnedDescriptor,
        _ option: String
    ) async throws {
        guard await TerminalPrompt().isUsable else {
            throw Failure(
                .usage,
                localized("There is no terminal to ask on."),
                hint: localized("%1$s FILE, or %1$s - to read standard input", option)
            )
        }
        guard try await SecretQuestion.ask(label + " ", into: memory) else {
            throw Failure(.refused, localized("Canceled."))
        }
    }

    /// A file in memory for a secret.
    static func memory() throws(Failure) -> OwnedDescriptor {
        guard let memory = SealedMemory.make() else { throw unusable }
        return memory
    }

    private static let unusable = Failure(.refused, localized("There is no memory for a secret."))

    private static func unreadable(_ file: String) -> Failure {
        let reason = String(cString: strerror(errno))
        return Failure(
            .refused,
            localized("%1$s can't be read: %2$s", shown(file), reason),
            hint: localized("name a file that you can read, or - for standard input")
        )
    }

    private static func shown(_ file: String) -> String {
        file == "-" ? localized("Standard input") : plainText(file, limit: 256)
    }
}
