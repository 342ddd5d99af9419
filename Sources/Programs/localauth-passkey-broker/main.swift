import CSystemd
import DBus
import Glibc
import Linux
import ServiceProgram

let name = "localauth-passkey-broker"
if let word = CommandLine.arguments.dropFirst().first {
    let help = """
        Usage: \(name)

        Makes the security keys of the kernel that hold passkeys. systemd starts it, by \(name).socket.

        Options:
          --help     Show this text.
          --version  Show the version.
        """
    print(word == "--version" ? "\(name) \(ServiceProgram.version)" : help)
    exit(["--help", "--version"].contains(word) ? EXIT_SUCCESS : 64)
}
for number in [SIGTERM, SIGINT] { signal(number) { _ in _exit(EXIT_SUCCESS) } }
onLoop {
    guard sd_listen_fds(1) == 1,
        sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 1) > 0,
        Broker(OwnedDescriptor(adopting: SD_LISTEN_FDS_START)) != nil
    else {
        log(.error, "can't start: systemd starts this program, by \(name).socket")
        exit(EXIT_FAILURE)
    }
    sd_notify(0, "READY=1")
}
EventLoop.shared.run()
