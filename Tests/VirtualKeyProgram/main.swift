import Glibc
import VirtualKey

// virtual-key PIPE: plugs a security key in to the kernel (/dev/uhid) until the program ends. Each
// line written to PIPE is a touch, named as in `Touch`. The program reports on standard output when
// it waits for a touch.

guard CommandLine.arguments.count == 2 else {
    print("usage: virtual-key PIPE")
    exit(64)
}
let device = open("/dev/uhid", O_RDWR | O_CLOEXEC)
// Open the pipe for writing too, so that it has no end of file.
let lines = open(CommandLine.arguments[1], O_RDWR | O_CLOEXEC)
guard device >= 0, lines >= 0 else {
    perror("virtual-key")
    exit(EXIT_FAILURE)
}
var key = KernelKey(device: device)
guard key.plug() else {
    perror("virtual-key: UHID_CREATE2")
    exit(EXIT_FAILURE)
}
say("plugged in")
var typed: [UInt8] = []
while true {
    var waiting = [
        pollfd(fd: device, events: Int16(POLLIN), revents: 0),
        pollfd(fd: lines, events: Int16(POLLIN), revents: 0),
    ]
    if poll(&waiting, 2, 100) == 0 { key.remind() }
    if waiting[0].revents != 0, !key.receive() { exit(EXIT_FAILURE) }
    if waiting[1].revents != 0 {
        var chunk = [UInt8](repeating: 0, count: 256)
        // Read in a separate statement: `chunk` in the same expression would have its old content.
        let count = read(lines, &chunk, chunk.count)
        typed += chunk.prefix(max(0, count))
        while let end = typed.firstIndex(of: 10) {
            let word = String(decoding: typed[..<end], as: UTF8.self)
            typed.removeSubrange(...end)
            let touch = Touch.allCases.first { "\($0)" == word }
            say(touch.map { key.touch($0) } == true ? "touched" : "not touched")
        }
    }
}

func say(_ line: String) {
    print(line)
    fflush(nil)
}
