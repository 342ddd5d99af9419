internal import Contract
import Linux
internal import Localization

/// The program of a caller, as the agent proves it: the agent runs as the user, and may look at
/// more than the service.
///
/// The name identifies the program that runs, not the program that it acts for: any process can
/// start any program.
public struct AskingProgram: Hashable, Sendable {
    /// The file of the program.
    public let path: String
    /// The name in its desktop file, or that of its own file.
    public let name: String
    /// The icon of its desktop file; empty when there is none.
    public let icon: String
    /// The programs that started it, the nearest first, by the names of their files; at most 4.
    public let ancestors: [String]

    /// A program that is described already.
    public init(path: String, name: String, icon: String, ancestors: [String] = []) {
        self.path = path
        self.name = name
        self.icon = icon
        self.ancestors = ancestors
    }

    /// Looks a process up; nil if its program cannot be proven.
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

    /// The program of a process; nil where the screen would cut its path or drop a character.
    private static func shown(_ pid: Int32) -> RunningProgram? {
        guard let program = RunningProgram(pid: pid),
            DisplayText.cleaned(program.path, limit: 256) == program.path
        else { return nil }
        return program
    }

    /// Stops at process 1, which starts everything, and at a process that cannot be proven.
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
