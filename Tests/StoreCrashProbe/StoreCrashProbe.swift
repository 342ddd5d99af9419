import AuthEngine
import AuthStore
import Glibc
import Linux
import Synchronization

/// A process with a store, which tests kill, limit or deprive of privileges.
///
/// Usage: `StoreCrashProbe MODE DIRECTORY`. Each event is reported on a line of standard output.
@main
enum StoreCrashProbe {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            say("usage: StoreCrashProbe write|fill|unprivileged|hold DIRECTORY")
            exit(64)
        }
        if arguments[1] == "unprivileged" && geteuid() == 0 {
            // The unprivileged uid on Debian.
            seteuid(65534)
        }
        do throws(SystemError) {
            let (store, _) = try AuthStore.open(
                directory: arguments[2],
                now: Instant.now(),
                bootID: "probe",
                settings: Settings()
            )
            say("open")
            switch arguments[1] {
            case "write": write(to: store)
            case "fill": fill(store)
            default: while readLine() != nil {}
            }
            store.close()
        } catch {
            say("\(error.code.rawValue) \(error)")
            exit(1)
        }
    }

    /// Counts up, user by user, and prints every number that reached the disk, until killed.
    private static func write(to store: AuthStore) {
        let waiting = Semaphore(count: 32)
        for number in 1... {
            waiting.wait()
            let uid = UInt32(number % 7)
            let done: @Sendable (SystemError?) -> Void = { error in
                say(error.map { "failed \($0)" } ?? "\(number)")
                waiting.signal()
            }
            if number % 3 == 0 {
                var enrolment = Enrolment()
                enrolment.generation = UInt64(number)
                enrolment.templates = ["Simulated": ["\(number)"]]
                store.save(enrolment, uid: uid, done: done)
            } else {
                var record = UserRecord()
                record.misses = number
                store.save(record, uid: uid, done: done)
            }
        }
    }

    /// Writes under a file size limit until a write fails, then once more without the limit.
    private static func fill(_ store: AuthStore) {
        limitFiles(to: 256 * 1024)
        var enrolment = Enrolment()
        for number in 1...1000 {
            let id = String(repeating: "x", count: 4000) + "\(number)"
            _ = enrolment.update(sensor: "Simulated", ids: [id])
            if let error = save(enrolment, uid: UInt32(number), to: store) {
                say("failed \(error.code.rawValue)")
                break
            }
            say("\(number)")
        }
        limitFiles(to: .max)
        say(save(enrolment, uid: 0, to: store).map { "failed \($0)" } ?? "0")
    }

    private static func save(
        _ enrolment: Enrolment,
        uid: UInt32,
        to store: AuthStore
    ) -> SystemError? {
        let answer = Mutex<SystemError?>(nil)
        let done = Semaphore(count: 0)
        store.save(enrolment, uid: uid) { error in
            answer.withLock { $0 = error }
            done.signal()
        }
        done.wait()
        return answer.withLock { $0 }
    }

    private static func limitFiles(to size: rlim_t) {
        var limit = rlimit(rlim_cur: size, rlim_max: .max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    }

    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(1, bytes, bytes.count)
    }
}

/// Counts tokens in a pipe.
///
/// Taking a token waits until the pipe has a token.
private final class Semaphore: Sendable {
    private let reading: Int32
    private let writing: Int32

    init(count: Int) {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        (reading, writing) = (ends[0], ends[1])
        for _ in 0..<count {
            signal()
        }
    }

    func wait() {
        var byte: UInt8 = 0
        while read(reading, &byte, 1) != 1 {}
    }

    func signal() {
        var byte: UInt8 = 0
        _ = Glibc.write(writing, &byte, 1)
    }
}
