internal import Contract
import Linux
internal import Localization

/// The program behind a caller's pid, as the agent verifies it.
///
/// The agent runs as the user, so it can inspect processes that the service cannot. The name
/// identifies the running program, not the program that it acts for: any process can start any
/// program.
public struct CallerProgram: Hashable, Sendable {
    public let path: String
    /// The name in the desktop file, or the file name without a desktop file.
    public let name: String
    /// The icon in the desktop file; empty without an icon.
    public let icon: String
    /// File names of the parent processes, nearest first; at most 4.
    public let ancestors: [String]

    public init(path: String, name: String, icon: String, ancestors: [String] = []) {
        self.path = path
        self.name = name
        self.icon = icon
        self.ancestors = ancestors
    }

    /// Looks up a process; nil if its program cannot be verified.
    public init?(pid: UInt32) {
        guard let number = Int32(exactly: pid), number > 0,
            let program = Self.shown(number)
        else { return nil }
        let file = program.desktopFile(languages: preferredLanguages())
        let title = plainText(file?.name ?? "", limit: 128)
        path = program.path
        name = title.isEmpty ? plainText(program.fileName, limit: 128) : title
        icon = plainText(file?.icon ?? "", limit: 1024)
        ancestors = Self.ancestors(of: number)
    }

    /// Returns nil where cleaning the path for display would cut it or drop a character.
    private static func shown(_ pid: Int32) -> RunningProgram? {
        guard let program = RunningProgram(pid: pid),
            DisplayText.cleaned(program.path, limit: 256) == program.path
        else { return nil }
        return program
    }

    /// Stops at process 1, the root of all processes, and at a process that cannot be verified.
    private static func ancestors(of pid: Int32) -> [String] {
        var names: [String] = []
        var next = RunningProgram.parent(of: pid)
        while let process = next, process > 1, names.count < 4 {
            guard let program = shown(process) else { break }
            names.append(plainText(program.fileName, limit: 64))
            next = RunningProgram.parent(of: process)
        }
        return names
    }
}
