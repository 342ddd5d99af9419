import DBus
import Fingerprint
import SensorKit
import ServiceProgram

extension FingerprintSensor {
    /// Time for a canceled enrolment to remove a print that it may have left.
    static let undoPatience = Duration.seconds(4)

    func enroll(
        _ operation: SensorOperation,
        label: String
    ) async throws(SensorFault) -> String {
        guard let user = try name(of: operation.user) else {
            throw .failed("There is no account with the uid \(operation.user).")
        }
        begin(operation)
        defer { end() }
        let session = try await claim(for: user, operation)
        var chosen: Finger?
        do throws(FprintFault) {
            chosen = Self.free(label, try await session.fingers(of: user))
            if let chosen {
                try await session.startEnroll(chosen)
                operation.ready()
                try await collect(session, operation)
            }
        } catch {
            releaseClaim(session, undoing: chosen)
            await settle(within: Self.undoPatience)
            throw SensorFault(error)
        }
        releaseClaim(session)
        await settle(within: Self.releasePatience)
        guard let finger = chosen else {
            throw Finger(label: label) == nil ? .full : .duplicate
        }
        do throws(SensorFault) {
            return try await keep(label, of: finger, operation.user, user)
        } catch {
            // If enrolment fails, the print must not stay enrolled. Undo in a separate task,
            // because Cancel may have ended this task.
            await onLoop { await self.undo(finger, operation.user, user) }.value
            host.templatesChanged(of: operation.user)
            // After "busy" the caller would start another enrolment.
            if case .inUse = error { throw .failed("fprintd did not keep the print.") }
            throw error
        }
    }

    /// Deletes the print of a failed enrolment, with retries while another program holds the
    /// reader.
    private func undo(_ finger: Finger, _ uid: UInt32, _ user: String) async {
        var (isDone, isOver) = (false, false)
        onLoop {
            while !isDone, !isOver {
                do throws(SensorFault) {
                    _ = try await self.erase([finger], uid, user) { isOver }
                    isDone = true
                } catch {
                    if case .inUse = error {} else { isDone = true }
                }
                if !isDone { _ = await self.changes.wait(atMost: Self.busyPause) { isOver } }
            }
            self.changes.notifyAll()
        }
        _ = await changes.wait(atMost: Self.undoPatience) { isDone }
        isOver = true
        changes.notifyAll()
    }

    /// The finger named by the label, else the first free finger; nil if taken.
    ///
    /// A taken finger is refused, because EnrollStart deletes its print even if enrolment fails
    /// later.
    private static func free(_ label: String, _ taken: [Finger]) -> Finger? {
        if let named = Finger(label: label) { return taken.contains(named) ? nil : named }
        return Finger.preferred.first { !taken.contains($0) }
    }

    private func collect(
        _ session: FprintSession,
        _ operation: SensorOperation
    ) async throws(FprintFault) {
        let stages = properties.enrollStages
        var done: UInt32 = 0
        while true {
            guard try isAwake(operation) else { throw .failed("The machine goes to sleep.") }
            switch await session.next() {
            case .interrupted: continue
            case .lost: throw .lost
            case .status(let status):
                switch status.result {
                case .completed where status.isDone:
                    operation.stage(stages > 0 ? UInt32(stages) : done + 1, of: stages)
                    return
                case .stagePassed:
                    done += 1
                    operation.stage(done, of: stages)
                case _ where status.isDone: throw status.fault
                default: if let hint = status.hint { operation.hint(hint) }
                }
            }
        }
    }

    /// Stores the new template's label and returns its id.
    private func keep(
        _ label: String,
        of finger: Finger,
        _ uid: UInt32,
        _ user: String
    ) async throws(SensorFault) -> String {
        lists[uid] = nil
        readers.known.forget(finger, uid: uid, sensor: name)
        let list = try await enrolled(uid, user)
        guard let new = list.first(where: { $0.finger == finger }) else {
            throw .failed("fprintd did not keep the print.")
        }
        // Without a readable print file, the time of enrolment makes the id unique.
        let id = new.isSeen ? new.id : EnrolledFingers.stamped(finger)
        let others = list.map(\.id).filter { $0 != new.id }
        if !readers.keep(label, of: id, uid: uid, sensor: name, others) {
            log(.warning, "a label can't be written to \(Readers.stateFolder)")
        }
        // Drop the cached id, so that the next listing assigns the new id.
        if !new.isSeen {
            readers.known.forget(finger, uid: uid, sensor: name)
            lists[uid] = nil
        }
        return id
    }
}
