import CLinux
import DBus
import Glibc
import Localization
import Synchronization

/// The controlling terminal of a prompt, without echo; its settings are restored however the
/// process ends.
@BusActor final class Terminal {
    let descriptor: Int32

    /// Opens a terminal without changing its settings.
    ///
    /// A fresh open keeps the non-blocking flag private to this process. Non-blocking writes keep a
    /// stopped or slow terminal from blocking the loop.
    ///
    /// - Throws: Failed without a terminal.
    init(path: String) throws(DBusError) {
        descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw DBusError(.failed, "There is no terminal to ask on.")
        }
        guard isatty(descriptor) == 1 else {
            close(descriptor)
            throw DBusError(.failed, "\(path) is not a terminal.")
        }
    }

    isolated deinit {
        restore()
        close(descriptor)
    }

    /// Brings this process to the foreground, drops earlier input and stops the echo.
    ///
    /// - Throws: Failed if the shell uses the terminal, or the terminal is gone.
    func take() throws(DBusError) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            throw DBusError(.failed, "The terminal is gone.")
        }
        let front = tcgetpgrp(descriptor)
        let isBehind = front > 0 && front != getpgrp()
        guard !isBehind || front != getsid(0) else {
            throw DBusError(.failed, "The terminal's shell is waiting for input.")
        }
        onExitRestore.withLock { $0 = Saved(descriptor, settings, isBehind ? front : 0) }
        registerExit()
        withoutStopping {
            if isBehind { tcsetpgrp(descriptor, getpgrp()) }
            settings.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
            settings.c_iflag &= ~tcflag_t(IXON | IXOFF | ISTRIP)
            tcsetattr(descriptor, TCSAFLUSH, &settings)
        }
    }

    /// Restores the settings; a second call does nothing.
    func restore() {
        restoreTerminal(of: descriptor)
    }

    /// Drops unread input, because it does not answer the next prompt.
    func dropInput() {
        withoutStopping { tcflush(descriptor, TCIFLUSH) }
    }

    /// Wraps a text to the terminal's width.
    func wrapped(_ text: String) -> String {
        Localization.wrapped(text, to: terminalWidth(of: descriptor) ?? .max)
    }

    /// Returns as much of a text as fits on one line.
    func row(_ text: String) -> String {
        String(wrapped(text).prefix { $0 != "\n" })
    }

    /// Writes a text; output that a stopped terminal refuses is lost.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        }
    }
}

/// The number of columns of a terminal; nil without a terminal or a known width.
package func terminalWidth(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// The terminal's original settings; a process has only one terminal.
private struct Saved {
    let descriptor: Int32
    var settings: termios
    /// The original foreground process group; 0 if it was this process's own.
    let front: pid_t

    init(_ descriptor: Int32, _ settings: termios, _ front: pid_t) {
        self.descriptor = descriptor
        self.settings = settings
        self.front = front
    }
}

private let onExitRestore = Mutex<Saved?>(nil)

/// Registers, once, a last resort that restores the terminal on exit(3) and quick_exit(3).
private let exitRegistrations: [Int32] = [
    atexit { restoreTerminal(of: nil) }, at_quick_exit { restoreTerminal(of: nil) },
]

private func registerExit() {
    _ = exitRegistrations
}

/// Restores the saved terminal; a given descriptor must match it.
private func restoreTerminal(of descriptor: Int32?) {
    let taken = onExitRestore.withLock { saved -> Saved? in
        guard let found = saved, descriptor == nil || found.descriptor == descriptor else {
            return nil
        }
        saved = nil
        return found
    }
    guard var taken else { return }
    withoutStopping {
        // Flush input that was typed too late: the shell must not run it as a command.
        tcsetattr(taken.descriptor, TCSAFLUSH, &taken.settings)
        if taken.front > 0, tcgetpgrp(taken.descriptor) == getpgrp() {
            tcsetpgrp(taken.descriptor, taken.front)
        }
    }
}

/// Blocks SIGTTOU, because changing a terminal from the background stops the process.
private func withoutStopping(_ body: () -> Void) {
    var blocked = sigset_t()
    var before = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGTTOU)
    pthread_sigmask(SIG_BLOCK, &blocked, &before)
    body()
    pthread_sigmask(SIG_SETMASK, &before, nil)
}
