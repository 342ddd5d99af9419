import Linux

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

    /// A program that is described already.
    public init(path: String, name: String, icon: String) {
        self.path = path
        self.name = name
        self.icon = icon
    }

    /// Looks a process up; nil when the kernel doesn't tell what it runs.
    public init?(pid: UInt32) {
        guard let number = Int32(exactly: pid), number > 0 else { return nil }
        let program = RunningProgram(pid: number)
        guard let path = program.path, let fileName = program.fileName else { return nil }
        let file = program.desktopFile
        let title = plainText(file?.name ?? "", limit: 128)
        self.path = plainText(path, limit: 256)
        name = title.isEmpty ? plainText(fileName, limit: 128) : title
        icon = plainText(file?.icon ?? "", limit: 1024)
    }
}
