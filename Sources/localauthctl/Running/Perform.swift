import ArgumentParser
import DBus
import Glibc
import Localization
import Synchronization

private let exitStatus = Mutex<Int32>(0)

/// Reaches the service and runs a command's body; ends with the command's status.
/// - Throws: always, the exit status.
func perform(
    _ bus: BusArguments,
    _ body: @escaping @BusActor @Sendable (Service) async throws -> Void
) throws {
    let address = bus.address
    try performOnLoop {
        let service = try await Service.reach(address)
        defer { service.connection.flush() }
        try await body(service)
    }
}

/// Runs a body on the loop, with the loop on this thread; ends with the command's status.
/// - Throws: always, the exit status.
func performOnLoop(_ body: @escaping @BusActor @Sendable () async throws -> Void) throws {
    onLoop {
        let status = await outcome(body)
        exitStatus.withLock { $0 = status }
        EventLoop.shared.stop()
    }
    EventLoop.shared.run()
    throw ExitCode(exitStatus.withLock { $0 })
}

@BusActor private func outcome(_ body: @BusActor @Sendable () async throws -> Void) async -> Int32 {
    do {
        try await body()
        return 0
    } catch let code as ExitCode {
        return code.rawValue
    } catch let failure as Failure {
        return report(failure)
    } catch let error as DBusError {
        return report(Failure(error))
    } catch {
        return report(Failure(.refused, "\(error)"))
    }
}

/// Says on standard error what went wrong, and what to do next.
func report(_ failure: Failure) -> Int32 {
    tell("localauthctl: \(failure.message)")
    if let hint = failure.hint { tellNext(hint) }
    return failure.status.rawValue
}

/// What to do next, on standard error.
func tellNext(_ hint: String) {
    tell("  " + localized("Next: %1$s", hint))
}

/// One line on standard error.
func tell(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes rows in columns that line up, on standard output.
func printTable(_ rows: [[String]], indent: String = "") {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns)
        .map { column in
            rows.map { column < $0.count ? Localization.columns(of: $0[column]) : 0 }.max() ?? 0
        }
    for row in rows {
        let cells = row.enumerated()
            .map { column, cell in
                column == row.count - 1 ? cell : padded(cell, to: widths[column])
            }
        print(indent + cells.joined(separator: "  "))
    }
}

/// Calls `body` at ^C, SIGTERM and SIGHUP; the second time the process ends at once.
@BusActor func onInterruption(_ body: @escaping @BusActor () -> Void) {
    let interruption = Interruption(body)
    for number in [SIGINT, SIGTERM, SIGHUP] {
        _ = EventLoop.shared.onSignal(number) { interruption.come() }
    }
}

@BusActor private final class Interruption {
    private var body: (@BusActor () -> Void)?

    init(_ body: @escaping @BusActor () -> Void) { self.body = body }

    func come() {
        guard let body else { exit(Failure.Status.refused.rawValue) }
        self.body = nil
        body()
    }
}

extension StreamingCall {
    /// The reply or the refusal, for a command that has something to put away in either case.
    func result() async -> Result<Value, DBusError> {
        do throws(DBusError) {
            return .success(try await reply())
        } catch {
            return .failure(error)
        }
    }
}
