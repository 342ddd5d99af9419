import Glibc
import Linux
import TestSupport
import Testing

/// The program of a process, and its desktop file.
@Suite(.timeLimit(.minutes(10))) struct RunningProgramTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func install(_ name: String, _ lines: String...) throws {
        let text = "[Desktop Entry]\n" + lines.joined(separator: "\n") + "\n"
        try TemporaryFolder.write("\(folder.path)/\(name).desktop", text.utf8)
    }

    /// Returns the desktop file for a running program of the system.
    private func file(of words: [String], _ languages: [String] = ["en"]) throws -> DesktopFile? {
        let process = try ChildProcess(words)
        return RunningProgram(pid: process.pid)?
            .desktopFile(in: folder.path, languages: languages)
    }

    @Test("L33: a program with a replaced file keeps its path, and is not proven")
    func replaced() throws {
        let path = folder.path + "/program"
        try TemporaryFolder.write(path, TemporaryFolder.read("/usr/bin/sleep"))
        chmod(path, 0o700)
        let process = try ChildProcess([path, "60"])
        #expect(RunningProgram(pid: process.pid)?.path == path)
        unlink(path)
        #expect(RunningProgram.path(of: process.pid) == path)
        try TemporaryFolder.write(path, TemporaryFolder.read("/usr/bin/sleep"))
        #expect(RunningProgram(pid: process.pid) == nil)
    }

    @Test("The parent of a process is found whatever the process calls itself")
    func parent() throws {
        let path = folder.path + "/) S 1234 0"
        try TemporaryFolder.write(path, TemporaryFolder.read("/usr/bin/sleep"))
        chmod(path, 0o700)
        let process = try ChildProcess([path, "60"])
        let comm = try TemporaryFolder.read("/proc/\(process.pid)/comm")
        #expect(String(decoding: comm, as: UTF8.self).hasPrefix(") S 1234 0"))
        #expect(RunningProgram.parent(of: process.pid) == getpid())
        withExtendedLifetime(process) {}
    }

    @Test("A program has the desktop file of its name, else a file that starts it")
    func starter() throws {
        #expect(try file(of: ["/usr/bin/sleep", "60"]) == nil)
        try install("org.example.Rest.Long", "Name=Long", "Exec=sleep --long")
        try install("org.example.Rest", "Name=Rest", "Icon=rest", "Exec=\"/bin/sleep\" %U")
        let found = try file(of: ["/usr/bin/sleep", "60"])
        #expect(found?.identifier == "org.example.Rest")
        #expect(found?.icon == "rest")
        try install("sleep", "Name=Sleep", "Exec=something-else")
        #expect(try file(of: ["/usr/bin/sleep", "60"])?.name == "Sleep")
    }

    @Test("A desktop file that starts another program through this program is ignored")
    func means() throws {
        try install("other", "Name=Other", "Exec=sleep other-program")
        #expect(try file(of: ["/usr/bin/sleep", "60"]) == nil)
        try install("python3.11", "Name=Python", "Exec=/usr/bin/python3.11")
        try install("python", "Name=Python", "Exec=/usr/bin/python3")
        let script = "import time; time.sleep(60)"
        #expect(try file(of: ["/usr/bin/python3", "-c", script]) == nil)
    }

    @Test("A user's own program has no desktop file, whatever its name")
    func ownProgram() throws {
        let path = folder.path + "/sleep"
        try TemporaryFolder.write(path, TemporaryFolder.read("/usr/bin/sleep"))
        chmod(path, 0o700)
        try install("sleep", "Name=Sleep", "Exec=\(path)")
        #expect(try file(of: [path, "60"]) == nil)
    }

    @Test("A name is in the first of the user's languages that the file has")
    func languages() throws {
        try install(
            "sleep",
            "Name=Rest",
            "Name[de]=Ruhe",
            "Name[zh_CN]=休息",
            "Icon=rest",
            "[Desktop Action Long]",
            "Name[fr]=Repos"
        )
        func name(_ languages: String...) throws -> String? {
            try file(of: ["/usr/bin/sleep", "60"], languages)?.name
        }
        #expect(try name("de_AT", "de", "en") == "Ruhe")
        #expect(try name("zh_CN", "zh", "de", "en") == "休息")
        #expect(try name("fr", "en") == "Rest")
        #expect(try name("en", "de") == "Rest")
    }
}
