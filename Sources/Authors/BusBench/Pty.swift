import CLinux
import Glibc

/// A pseudo-terminal for tests, which type on it and read its screen.
package final class Pty {
    /// The path of the terminal's device.
    package let path: String
    package private(set) var screen = ""

    private let master: Int32
    private let slave: Int32
    private var bytes: [UInt8] = []

    /// Opens a new terminal, which stays open without a program on it.
    package init() throws {
        var lock: Int32 = 0
        var number: Int32 = 0
        let setLock: UInt = 0x4004_5431
        let getNumber: UInt = 0x8004_5430
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard
            master >= 0, ioctl(master, setLock, &lock) == 0, ioctl(master, getNumber, &number) == 0
        else { throw TestFailure("No pseudoterminal.") }
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw TestFailure("\(path) can't be opened.") }
    }

    deinit {
        close(slave)
        close(master)
    }

    /// Whether the terminal echoes input, as a shell expects.
    package var isPlain: Bool {
        var settings = termios()
        let wanted = tcflag_t(ECHO | ICANON | ISIG)
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & wanted == wanted
    }

    package func resize(columns: UInt16) {
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// The descriptor that becomes readable when the program writes.
    package var descriptor: Int32 { master }

    /// Whether the program has unread input.
    package var isUnread: Bool {
        var count: Int32 = 0
        return ioctl(slave, UInt(FIONREAD), &count) == 0 && count > 0
    }

    /// Reads pending output without waiting.
    package func look() {
        var poll = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        while Glibc.poll(&poll, 1, 0) > 0, readSome() {}
    }

    private func readSome() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &chunk, chunk.count)
        guard count > 0 else { return false }
        bytes += chunk[..<count]
        screen = String(decoding: bytes, as: UTF8.self)
        return true
    }

    package func type(_ text: String) { type(Array(text.utf8)) }

    package func type(_ keys: [UInt8]) {
        _ = write(master, keys, keys.count)
        // The kernel delivers input asynchronously; polling the other end forces delivery.
        var poll = pollfd(fd: slave, events: Int16(POLLIN), revents: 0)
        Glibc.poll(&poll, 1, 0)
    }

    /// Reads until the screen has shown a text `times` times, for at most 60 s.
    ///
    /// - Returns: Whether the text appeared that often.
    package func shows(_ text: String, times: Int = 1) -> Bool {
        let deadline = time(nil) + 60
        while true {
            if occurrences(of: text) >= times { return true }
            let left = deadline - time(nil)
            guard left > 0 else { return false }
            var poll = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, Int32(left * 1000)) > 0, readSome() else { return false }
        }
    }

    private func occurrences(of text: String) -> Int {
        let (screen, text) = (Array(screen.utf8), Array(text.utf8))
        guard !text.isEmpty, screen.count >= text.count else { return 0 }
        return (0...(screen.count - text.count))
            .count { start in
                screen[start..<(start + text.count)].elementsEqual(text)
            }
    }
}
