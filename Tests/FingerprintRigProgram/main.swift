import DBus
import FingerprintRig
import Glibc

// fingerprint-rig [image|device|storage]...: starts a rig, prints its address, and keeps it until
// SIGTERM. On standard input, `touch N` or `touch N again` touches the reader as soon as fprintd
// needs a finger, and prints fprintd's status.

onLoop {
    do {
        let kinds = CommandLine.arguments.dropFirst().compactMap(VirtualReader.Kind.init(rawValue:))
        let rig = try await FingerprintRig(kinds.isEmpty ? [.image] : kinds)
        say("DBUS_SYSTEM_BUS_ADDRESS=\(rig.address)")
        say("WORDS=\(rig.words(["/"]).dropFirst().dropLast().joined(separator: " "))")
        say("STARTED=\(rig.startTime)")
        for number in [SIGTERM, SIGINT] {
            _ = EventLoop.shared.onSignal(number) {
                onLoop {
                    await rig.end()
                    exit(EXIT_SUCCESS)
                }
            }
        }
        var source: EventSource?
        source = EventLoop.shared.watch(descriptor: 0) {
            guard let line = readLine() else {
                source?.cancel()
                return
            }
            onLoop { await obey(line, rig) }
        }
        say("READY")
    } catch {
        say("FAILED=\(error)")
        exit(EXIT_FAILURE)
    }
}
EventLoop.shared.run()

@BusActor func obey(_ line: String, _ rig: FingerprintRig) async {
    let words = line.split(separator: " ")
    guard words.count >= 2, words[0] == "touch", let finger = Int(words[1]) else {
        return say("UNKNOWN=\(line)")
    }
    do {
        let result = try await rig.scan(finger, again: words.count > 2)
        say("SAID=\(result)")
    } catch {
        say("FAILED=\(error)")
    }
}

func say(_ line: String) {
    print(line)
    fflush(nil)
}
