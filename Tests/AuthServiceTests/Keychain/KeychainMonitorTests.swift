import AuthEngine
import DBus
import LocalAuthBus
import TestSupport
import Testing

/// What somebody who monitors the bus gets to see of secrets.
@Suite("Secrets and bus monitors", .timeLimit(.minutes(10)))
struct KeychainMonitorTests {
    /// Monitors the bus until a call has `end-of-watch` in it, then prints what it could read:
    /// of the bytes that went by, and of each descriptor of which it got a copy.
    private static let script = """
        import array, os, socket, stat, struct, sys
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(sys.argv[1])
        def line(text):
            bus.sendall(text + b"\\r\\n")
            return bus.recv(4096)
        line(b"\\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode())
        line(b"NEGOTIATE_UNIX_FD")
        bus.sendall(b"BEGIN\\r\\n")
        def field(code, kind, text):
            data = struct.pack("<BBsB", code, 1, kind, 0)
            if kind == b"g":
                data += struct.pack("<B", len(text)) + text + b"\\0"
            else:
                data += struct.pack("<I", len(text)) + text + b"\\0"
            return data
        def call(serial, interface, member, signature=b"", body=b""):
            parts = [field(1, b"o", b"/org/freedesktop/DBus"), field(2, b"s", interface)]
            parts += [field(3, b"s", member), field(6, b"s", b"org.freedesktop.DBus")]
            if signature: parts.append(field(8, b"g", signature))
            fields = b""
            for part in parts: fields += b"\\0" * (-len(fields) % 8) + part
            head = struct.pack("<cBBBIII", b"l", 1, 0, 1, len(body), serial, len(fields))
            bus.sendall(head + fields + b"\\0" * (-(len(head) + len(fields)) % 8) + body)
        call(1, b"org.freedesktop.DBus", b"Hello")
        call(2, b"org.freedesktop.DBus.Monitoring", b"BecomeMonitor", b"asu",
             struct.pack("<II", 0, 0))
        seen, copies, said = b"", [], False
        while b"end-of-watch" not in seen:
            data, control, _, _ = bus.recvmsg(65536, socket.CMSG_SPACE(4 * 16))
            if not data: sys.exit("the bus closed the monitor")
            seen += data
            for level, kind, content in control:
                descriptors = array.array("i")
                descriptors.frombytes(content[:len(content) // 4 * 4])
                copies += descriptors
            if not said and b"NameLost" in seen:
                said = True
                print("watching", flush=True)
        for word in sys.argv[2:]: print("bytes", word, word.encode() in seen)
        for copy in copies:
            if not stat.S_ISSOCK(os.fstat(copy).st_mode):
                print("file", os.pread(copy, 70000, 0).decode())
                continue
            try:
                got = socket.socket(fileno=copy).recv(70000, socket.MSG_DONTWAIT).decode()
            except OSError as error:
                got = ""
            print("socket", got or "nothing")
        print("done", flush=True)
        """

    @Test("R64, L18: a monitor reads no secret that is given out, and no password that is typed")
    func monitor() async throws {
        try await ServiceBench.run { bench in
            let (person, sensor, template) = try await bench.enrolled()
            let keychain = bench.keychain(person.connection)
            let context = try await bench.context(on: person.connection)
            _ = try await context.setCredential(credentialType: 0, secret: sealed("password-lent"))
            let id = try await keychain.add(
                "guarded",
                "secret-stored",
                flags: [.biometryAny, .applicationPassword],
                context: context
            )
            let watcher = try bench.bus.start([
                "/usr/bin/python3", "-c", Self.script, bench.bus.folder + "/bus",
                "secret-stored", "secret-handed", "password-lent", "open the vault",
            ])
            defer { watcher.signal(9) }
            try await eventually("the monitor") { watcher.output.contains("watching\n") }

            // Handed in: the one way that a monitor can read, and root alone can monitor.
            _ = try await keychain.add("other", "secret-handed")
            let pair = try SecretPair()
            let call = RunningCall { () throws(DBusError) in
                try await keychain.proxy.read(
                    id: id,
                    receiver: pair.end,
                    reason: "open the vault",
                    options: [:]
                )
            }
            try await sensor.operation().succeed(template)
            try await person.askedForPassword()
            try await person.type("password-lent")
            try await call.value()
            _ = try? await bench.client.nameOwner("end-of-watch.a")
            try await eventually("the monitor's report") {
                watcher.output.contains("done\n")
            }
            // The packet waits all the time.
            #expect(pair.packet() == Array("secret-stored".utf8))
            let report = watcher.output.split(separator: "\n").map(String.init)
            #expect(report.contains("bytes open the vault True"), "it does see messages")
            for word in ["secret-stored", "secret-handed", "password-lent"] {
                #expect(report.contains("bytes \(word) False"))
            }
            #expect(report.filter { $0.hasPrefix("file") } == ["file secret-handed"])
            let sockets = report.filter { $0.hasPrefix("socket") }
            // The receiver, the prompt's channel and that of the password.
            #expect(sockets == Array(repeating: "socket nothing", count: 3))
        }
    }
}
