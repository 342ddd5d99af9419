import CLinux
import DBus
import Glibc
import Localization
import Synchronization

/// The controlling terminal while a prompt uses it: nothing typed is shown, and the terminal is
/// restored however the process ends.
@BusActor final class Terminal {
    let descriptor: Int32

    /// Opens a terminal without changing anything.
    ///
    /// It is opened anew so that the non-blocking flag affects no other process: a terminal that is
    /// stopped or slow must not block the loop.
    /// - Throws: Failed when there is none.
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

    /// Brings this process to the front, drops what was typed before and stops the echo.
    /// - Throws: Failed when the shell is using the terminal, or it is gone.
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

    /// Restores everything; a second call does nothing.
    func restore() {
        restoreTerminal(of: descriptor)
    }

    /// Drops what was typed and not read yet: it was not meant as the answer to the next question.
    func dropInput() {
        withoutStopping { tcflush(descriptor, TCIFLUSH) }
    }

    /// A text in lines of the terminal's width.
    func wrapped(_ text: String) -> String {
        Localization.wrapped(text, to: terminalWidth(of: descriptor) ?? .max)
    }

    /// As much of a text as one line has room for.
    func row(_ text: String) -> String {
        String(wrapped(text).prefix { $0 != "\n" })
    }

    /// Writes a text; what a stopped terminal doesn't take is lost.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        }
    }
}

/// How many columns a terminal has; nil for what is none, or doesn't say.
package func terminalWidth(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// The terminal's settings from before; a process has only one terminal.
private struct Saved {
    let descriptor: Int32
    var settings: termios
    /// Which group was in front; 0 when it was this process's own.
    let front: pid_t

    init(_ descriptor: Int32, _ settings: termios, _ front: pid_t) {
        self.descriptor = descriptor
        self.settings = settings
        self.front = front
    }
}

private let onExitRestore = Mutex<Saved?>(nil)

/// Registers, once, the last resort: restoring the terminal when anything calls exit(3), or
/// quick_exit(3) as services do.
private let exitRegistrations: [Int32] = [
    atexit { restoreTerminal(of: nil) }, at_quick_exit { restoreTerminal(of: nil) },
]

private func registerExit() {
    _ = exitRegistrations
}

/// Restores the saved terminal; when a descriptor is given, only if it is that one.
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
        // Flushing drops what was typed too late: the shell must not take it as a command.
        tcsetattr(taken.descriptor, TCSAFLUSH, &taken.settings)
        if taken.front > 0, tcgetpgrp(taken.descriptor) == getpgrp() {
            tcsetpgrp(taken.descriptor, taken.front)
        }
    }
}

/// Changing a terminal from the background would stop the process otherwise.
private func withoutStopping(_ body: () -> Void) {
    var blocked = sigset_t()
    var before = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGTTOU)
    pthread_sigmask(SIG_BLOCK, &blocked, &before)
    body()
    pthread_sigmask(SIG_SETMASK, &before, nil)
}
