public import DBus
public import SensorContract
import TestSupport

extension FingerprintRig {
    /// The sensor program on this rig, for the conformance suite of sensors.
    public func fixture(name: String = "Fingerprint") throws -> SensorFixture {
        let right = try Fingerprints.image(1)
        let wrong = try Fingerprints.image(2)
        return SensorFixture(
            program: words(["localauth-sensor-fingerprint"]),
            name: name,
            patience: .seconds(60),
            promptness: .seconds(20)
        ) { isMatching, _ in
            guard await self.isFingerNeeded() else { return }
            self.readers[0].touch(isMatching ? right : wrong)
        }
    }

    public nonisolated static func path(_ number: Int = 0) -> ObjectPath {
        ObjectPath(unchecked: "/net/reactivated/Fprint/Device/\(number)")
    }

    public func isFingerNeeded(_ number: Int = 0) async -> Bool {
        let isNeeded = try? await client.property(
            "finger-needed",
            of: "net.reactivated.Fprint.Device",
            at: Self.path(number),
            on: Self.fprintName,
            as: Bool.self
        )
        return isNeeded == true
    }

    public func waitForFingerNeeded(_ number: Int = 0) async throws {
        try await eventually("fprintd to want a finger") { await self.isFingerNeeded(number) }
    }

    /// Waits until the sensor has released the reader, which happens after its reply.
    public func waitUntilFree() async throws {
        try await eventually("the reader to be given back") { try await self.isFree() }
    }

    /// Returns whether the reader is unclaimed; claims it briefly.
    public func isFree() async throws -> Bool {
        let other = try Connection(.address(address))
        defer { other.close() }
        guard (try? await device("Claim", "bob", by: other)) != nil else { return false }
        try await device("Release", by: other)
        return true
    }

    public func deletePrints(of user: String) async throws {
        let status = try await run(words(["/usr/bin/fprintd-delete", user])).exitStatus()
        try expect(status == 0, "fprintd-delete to work")
    }

    public func enroll(_ finger: Int, as name: String, of user: String) async throws {
        let program = try run(words(["/usr/bin/fprintd-enroll", "-f", name, user]))
        let image = try Fingerprints.image(finger)
        while program.isRunning {
            if await isFingerNeeded() { readers[0].touch(image) }
            await pause(.milliseconds(10))
        }
        let status = try await program.exitStatus()
        try expect(status == 0, "fprintd-enroll said \(program.output)\(program.errors)")
    }

    /// Touches the image reader as soon as fprintd needs a finger.
    public func touch(_ finger: Int, again: Bool = false) async throws {
        try await waitForFingerNeeded()
        let image = try Fingerprints.image(finger, again: again)
        try expect(readers[0].touch(image), "the reader to take an image")
    }

    /// Touches the reader and returns fprintd's next status, such as `verify-match`.
    public func scan(
        _ finger: Int,
        again: Bool = false
    ) async throws -> String {
        let said = EventRecorder<String>()
        let owner = try await client.nameOwner(Self.fprintName) ?? ""
        let source = client.subscribe(
            sender: owner,
            path: Self.path(),
            interface: "net.reactivated.Fprint.Device",
            member: nil,
            broadcast: true
        ) { message in
            let word = try? message.read("sb") { reader throws(DBusError) in
                try reader.read(String.self)
            }
            if let word { said.record(word) }
        }
        defer { source.cancel() }
        try await touch(finger, again: again)
        return try await said.first("fprintd to say something") { _ in true }
    }

    /// Calls a method of fprintd's device, optionally on another program's connection.
    @discardableResult
    public func device(
        _ member: String,
        _ argument: String? = nil,
        by connection: Connection? = nil,
        number: Int = 0
    ) async throws(DBusError) -> Message {
        try await (connection ?? client)
            .call(
                to: Self.fprintName,
                path: Self.path(number),
                interface: "net.reactivated.Fprint.Device",
                member: member,
                signature: argument == nil ? "" : "s"
            ) { writer throws(DBusError) in
                if let argument { try writer.write(argument) }
            }
    }
}
