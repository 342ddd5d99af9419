import AgentKit
import Glibc
import LocalAuthClient
import Localization
import Sealing

/// Reads secrets from a file, a pipe or the terminal, never from the command line.
enum SecretInput {
    /// Reads a secret from a file, from standard input for `-`, or from the terminal without a
    /// file.
    ///
    /// `label` is the prompt on the terminal. Without a terminal, the error names the option
    /// `option`.
    static func secret(
        _ file: String?,
        label: String,
        option: String
    ) async throws -> SecretBytes {
        if let file { return try read(file) }
        guard await TerminalPrompt().isUsable else {
            throw Failure(
                .usage,
                localized("There is no terminal to ask on."),
                hint: localized("%1$s FILE, or %1$s - to read standard input", option)
            )
        }
        guard let secret = try await SecretQuestion.ask(label + " ") else {
            throw Failure(.refused, localized("Canceled."))
        }
        return secret
    }

    /// Reads an item's own password, like ``secret(_:label:option:)``.
    static func password(_ file: String?) async throws -> SecretBytes {
        try await secret(
            file,
            label: localized("Password of the item:"),
            option: "--password-file"
        )
    }

    /// Reads data of at most `limit` bytes, from standard input without a file or with `-`.
    static func read(
        _ file: String?,
        limit: Int = RemoteService.secretLimit
    ) throws(Failure) -> SecretBytes {
        let isPipe = file == nil || file == "-"
        let descriptor = isPipe ? dup(STDIN_FILENO) : open(file ?? "-", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(file ?? "-") }
        defer { close(descriptor) }
        guard let data = SecretBytes.read(from: descriptor, limit: limit + 1) else {
            throw unreadable(file ?? "-")
        }
        guard data.count <= limit else {
            throw Failure(
                .refused,
                localized("%1$s has more than %2$s bytes.", shown(file ?? "-"), "\(limit)"),
                hint: localized("keep it in a file, and the key of that file here")
            )
        }
        return data
    }

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
