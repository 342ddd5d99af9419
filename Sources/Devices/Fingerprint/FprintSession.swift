package import DBus

/// A claim of a reader for a user, on a dedicated bus connection.
///
/// fprintd ties a claim to its connection, so closing the connection always frees the reader.
///
/// Only statuses from fprintd's unique name count, and only between this session's start and stop.
/// fprintd broadcasts statuses, reports a miss when it is stopped, and may report a match too late.
@BusActor package final class FprintSession {
    /// The reasons for a return of ``next()``.
    package enum Turn: Hashable, Sendable {
        case status(ScanStatus)
        /// fprintd left the bus, which ends the claim.
        case lost
        /// ``interrupt()`` was called: check what changed.
        case interrupted
    }

    private enum Scan {
        case verify
        case enroll
    }

    /// The finger that fprintd looks for; nil if it looks for several, or hasn't reported it.
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

    /// The limit on queued statuses; further statuses are dropped.
    private static let mostStatuses = 64

    private init(_ connection: Connection, _ owner: String, _ path: ObjectPath) {
        self.connection = connection
        self.owner = owner
        self.path = path
    }

    /// Opens a session without a claim.
    ///
    /// The caller must end it with ``close(undoing:awake:)``.
    ///
    /// Opening the connection blocks for a round trip to the bus.
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

    /// Claims the reader for a user.
    ///
    /// Cancelling the task ends the wait at once.
    ///
    /// A request to fprintd cannot be withdrawn. fprintd may grant the claim after a cancellation,
    /// and ``close(undoing:awake:)`` then releases it. Closing the connection earlier would leave
    /// the reader claimed without an owner until fprintd has opened and closed it.
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

    /// Lists the fingers with a print on a reader.
    ///
    /// Closes the connection at once, because fprintd does not exit while its callers are
    /// connected.
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

    /// Starts to look for any finger of the user.
    ///
    /// - Throws: `noPrints`, `inUse`, `gone`, `lost`, `silent`, `canceled`.
    package func startVerify() async throws(FprintFault) {
        try await start(.verify, "VerifyStart", "any")
    }

    /// Starts to enrol a finger without a print; fprintd would delete an existing print first.
    ///
    /// - Throws: `denied`, `inUse`, `gone`, `lost`, `silent`, `canceled`.
    package func startEnroll(_ finger: Finger) async throws(FprintFault) {
        try await start(.enroll, "EnrollStart", finger.rawValue)
    }

    private func start(_ scan: Scan, _ member: String, _ word: String) async throws(FprintFault) {
        statuses = []
        selected = nil
        // Set this before the call: a fast reader sends its status before the reply.
        self.scan = scan
        do throws(FprintFault) {
            try await call(member, word)
        } catch {
            if error != .canceled { self.scan = nil }
            throw error
        }
    }

    /// Ends the scan; later statuses are ignored.
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

    package func interrupt() {
        isInterrupted = true
        wake()
    }

    private func wake() {
        waiting?.resume()
        waiting = nil
    }

    // MARK: Prints

    /// Lists the user's fingers with a print on this reader; empty without prints.
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

    /// Deletes a print of the user who claimed the reader.
    ///
    /// - Throws: `noPrints`, `denied`, `gone`, `lost`, `silent`, `canceled`.
    package func delete(_ finger: Finger) async throws(FprintFault) {
        try await call("DeleteEnrolledFinger", finger.rawValue)
    }

    // MARK: The end

    /// Stops, releases and disconnects.
    ///
    /// Never call it in a task that may be cancelled.
    ///
    /// An unanswered claim is awaited first, for at most half a minute.
    ///
    /// - Parameters:
    ///   - finger: The finger being enrolled. If its enrolment completed after all, it is deleted.
    ///   - awake: Returns when the machine is awake. A Release or a disconnect during suspend
    ///     leaves the reader open until fprintd exits.
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
