package import DBus

/// One claim of a reader for one user, on a bus connection of its own.
///
/// fprintd ties a claim to the connection: closing it frees the reader, whatever else went wrong.
/// Only statuses from fprintd's unique name count, and only from our own start until our own stop:
/// fprintd broadcasts them, sends a no-match when it is stopped, and may send a match too late.
@BusActor package final class FprintSession {
    /// What ``next()`` waits for.
    package enum Turn: Hashable, Sendable {
        /// fprintd says something of the scan.
        case status(ScanStatus)
        /// fprintd has left the bus, and the claim with it.
        case lost
        /// ``interrupt()`` was called: check what changed.
        case interrupted
    }

    private enum Scan {
        case verify
        case enroll
    }

    /// The finger that fprintd looks for; nil when it looks for several at once, or hasn't said.
    package private(set) var selected: Finger?

    private let connection: Connection
    private let owner: String
    private let path: ObjectPath
    private var scan: Scan?
    private var statuses: [ScanStatus] = []
    private var isInterrupted = false
    private var isLost = false
    private var claiming: Task<Void, Never>?
    private var claimed: Result<Void, FprintFault>?
    private var waiting: CheckedContinuation<Void, Never>?
    private var lateEnd: ScanStatus?

    /// The most statuses that are queued; when more arrive, the newest are dropped.
    private static let mostStatuses = 64

    private init(_ connection: Connection, _ owner: String, _ path: ObjectPath) {
        self.connection = connection
        self.owner = owner
        self.path = path
    }

    /// A session that has asked for nothing yet; it needs ``close(undoing:awake:)`` in any case.
    ///
    /// Opening the connection blocks for one round trip to the bus.
    ///
    /// - Throws: `lost`, `failed`.
    package static func open(
        _ reader: FprintReader,
        owner: String
    ) throws(FprintFault) -> FprintSession {
        let session = try connected(reader, owner)
        session.listen()
        return session
    }

    /// Claims the reader for a user; canceling the task gives up at once.
    ///
    /// What fprintd was asked can't be taken back: it may grant the claim after that, and
    /// ``close(undoing:awake:)`` then releases it. Closing the connection meanwhile would leave the
    /// reader taken by nobody until fprintd has opened and closed it.
    ///
    /// - Throws: `inUse`, `gone`, `lost`, `denied`, `silent`, `canceled`.
    package func claim(for user: String) async throws(FprintFault) {
        claiming = onLoop {
            do throws(FprintFault) {
                try await self.call("Claim", user, timeout: Fprint.claimPatience)
                self.claimed = .success(())
            } catch {
                self.claimed = .failure(error)
            }
            self.wake()
        }
        while claimed == nil, !Task.isCancelled {
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiting = $0 }
            } onCancel: {
                onLoop { self.wake() }
            }
        }
        guard let claimed, !Task.isCancelled else { throw .canceled }
        try claimed.get()
    }

    private var isClaimed: Bool {
        if case .success = claimed { true } else { false }
    }

    /// The fingers with a print on a reader, asked on a connection that is closed at once: fprintd
    /// does not end while one that asked is there.
    ///
    /// - Throws: `gone`, `lost`, `denied`, `silent`.
    package static func fingers(
        of user: String,
        on reader: FprintReader,
        owner: String
    ) async throws(FprintFault) -> [Finger] {
        let session = try connected(reader, owner)
        defer { session.connection.close() }
        return try await session.fingers(of: user)
    }

    private static func connected(
        _ reader: FprintReader,
        _ owner: String
    ) throws(FprintFault) -> FprintSession {
        do throws(DBusError) {
            return FprintSession(try Connection(.system), owner, reader.path)
        } catch {
            throw FprintFault(error)
        }
    }

    // MARK: Scanning

    /// Looks for any finger of the user.
    ///
    /// - Throws: `noPrints`, `inUse`, `gone`, `lost`, `silent`, `canceled`.
    package func startVerify() async throws(FprintFault) {
        try await start(.verify, "VerifyStart", "any")
    }

    /// Enrols a finger, which must have no print: fprintd would delete it first.
    ///
    /// - Throws: `denied`, `inUse`, `gone`, `lost`, `silent`, `canceled`.
    package func startEnroll(_ finger: Finger) async throws(FprintFault) {
        try await start(.enroll, "EnrollStart", finger.rawValue)
    }

    private func start(_ scan: Scan, _ member: String, _ word: String) async throws(FprintFault) {
        statuses = []
        selected = nil
        // Before the call: with a fast reader the status is there before the reply.
        self.scan = scan
        do throws(FprintFault) {
            try await call(member, word)
        } catch {
            if error != .canceled { self.scan = nil }
            throw error
        }
    }

    /// Ends the scan; from this call on no status of it counts.
    ///
    /// - Throws: `gone`, `lost`, `silent`, `canceled`.
    package func stop() async throws(FprintFault) {
        guard let scan else { return }
        self.scan = nil
        statuses = []
        try await call(scan == .verify ? "VerifyStop" : "EnrollStop")
    }

    package func next() async -> Turn {
        while true {
            if isLost { return .lost }
            if isInterrupted {
                isInterrupted = false
                return .interrupted
            }
            if !statuses.isEmpty { return .status(statuses.removeFirst()) }
            await withCheckedContinuation { waiting = $0 }
        }
    }

    /// Makes ``next()`` return.
    package func interrupt() {
        isInterrupted = true
        wake()
    }

    private func wake() {
        waiting?.resume()
        waiting = nil
    }

    // MARK: Prints

    /// The fingers of a user with a print on this reader; none: empty.
    ///
    /// - Throws: `gone`, `lost`, `denied`, `silent`, `canceled`.
    package func fingers(of user: String) async throws(FprintFault) -> [Finger] {
        do throws(FprintFault) {
            let reply = try await call("ListEnrolledFingers", user)
            let names = try? reply.read("as") { (reader) throws(DBusError) in
                try reader.read([String].self)
            }
            guard let names else { throw .failed("fprintd gave no list of fingers.") }
            return names.compactMap(Finger.init(rawValue:))
        } catch {
            if error == .noPrints { return [] }
            throw error
        }
    }

    /// Deletes the print of one finger of the user that the reader is claimed for.
    ///
    /// - Throws: `noPrints`, `denied`, `gone`, `lost`, `silent`, `canceled`.
    package func delete(_ finger: Finger) async throws(FprintFault) {
        try await call("DeleteEnrolledFinger", finger.rawValue)
    }

    // MARK: The end

    /// Stops, releases and disconnects; not from a task that may be canceled.
    ///
    /// A claim that is not answered yet is waited for, at most half a minute.
    ///
    /// - Parameters:
    ///   - finger: What was being enrolled. Should it be complete after all, it is deleted.
    ///   - awake: Returns when the machine is not asleep: a Release in suspend leaves the reader
    ///     open for everybody until fprintd ends, and so does closing the connection.
    package func close(
        undoing finger: Finger? = nil,
        awake: @BusActor () async -> Void
    ) async {
        await claiming?.value
        if isClaimed, !isLost {
            if scan == .enroll { lateEnd = statuses.last { $0.result == .completed } }
            try? await stop()
            if let finger, lateEnd != nil { try? await delete(finger) }
            await awake()
            _ = try? await call("Release")
        }
        isLost = true
        wake()
        connection.close()
    }

    // MARK: The bus

    private func listen() {
        _ = connection.subscribe(
            sender: owner,
            path: path,
            interface: Fprint.device,
            member: nil,
            broadcast: true
        ) { [weak self] in self?.received($0) }
        _ = connection.watchName(Fprint.busName) { [weak self] owner in
            guard let self, owner != self.owner else { return }
            isLost = true
            wake()
        }
    }

    private func received(_ signal: Message) {
        switch signal.member {
        case "VerifyStatus", "EnrollStatus":
            let status = try? signal.read("sb") { (reader) throws(DBusError) in
                ScanStatus(try reader.read(String.self), isDone: try reader.read(Bool.self))
            }
            guard let status else { return }
            take(status, of: signal.member == "VerifyStatus" ? .verify : .enroll)
        case "VerifyFingerSelected":
            let name = try? signal.read("s") { (reader) throws(DBusError) in
                try reader.read(String.self)
            }
            guard scan == .verify, let name else { return }
            selected = Finger(rawValue: name)
        default: break
        }
    }

    private func take(_ status: ScanStatus, of kind: Scan) {
        guard kind == scan else {
            if isClaimed, kind == .enroll, status.result == .completed { lateEnd = status }
            return
        }
        guard statuses.count < Self.mostStatuses else { return }
        statuses.append(status)
        wake()
    }

    @discardableResult
    private func call(
        _ member: String,
        _ argument: String? = nil,
        timeout: Duration = Fprint.patience
    ) async throws(FprintFault) -> Message {
        do throws(DBusError) {
            return try await connection.call(
                to: owner,
                path: path,
                interface: Fprint.device,
                member: member,
                signature: argument == nil ? "" : "s",
                timeout: timeout
            ) { (writer) throws(DBusError) in
                if let argument { try writer.write(argument) }
            }
        } catch {
            if Task.isCancelled { throw .canceled }
            throw isLost ? .lost : FprintFault(error)
        }
    }
}
