import Linux
internal import Localization

/// The program that asks, as the agent finds it by its process: the agent runs as the user, and may
/// look at what the service may not.
///
/// Nobody vouches for it: a process can be started with any program.
public struct AskingProgram: Hashable, Sendable {
    /// The file of the program.
    public let path: String
    /// The name in its desktop file, or that of its own file.
    public let name: String
    /// The icon of its desktop file; empty when there is none.
    public let icon: String
    /// What started it, and what started that, by the names of their files; four at most.
    public let ancestors: [String]

    /// A program that is described already.
    public init(path: String, name: String, icon: String, ancestors: [String] = []) {
        self.path = path
        self.name = name
        self.icon = icon
        self.ancestors = ancestors
    }

    /// Looks a process up; nil when the kernel doesn't tell what it runs.
    public init?(pid: UInt32) {
        guard let number = Int32(exactly: pid), number > 0 else { return nil }
        let program = RunningProgram(pid: number)
        guard let path = program.path, let fileName = program.fileName else { return nil }
        let file = program.desktopFile(languages: preferredLanguages())
        let title = plainText(file?.name ?? "", limit: 128)
        self.path = plainText(path, limit: 256)
        name = title.isEmpty ? plainText(fileName, limit: 128) : title
        icon = plainText(file?.icon ?? "", limit: 1024)
        ancestors = Self.ancestors(of: number)
    }

    /// Without the first process, which starts everything, and without what can't be told.
    private static func ancestors(of pid: Int32) -> [String] {
        var names: [String] = []
        var next = RunningProgram.parent(of: pid)
        while let process = next, process > 1, names.count < 4 {
            guard let name = RunningProgram(pid: process).fileName else { break }
            names.append(plainText(name, limit: 64))
            next = RunningProgram.parent(of: process)
        }
        return names
    }
}
